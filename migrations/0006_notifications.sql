-- Why somebody is told of something. In the order of precedence, so that the least of several reasons is the one that counts.
create type notification_reason as enum (
  'mention', 'review_requested', 'assign', 'team_mention', 'author', 'state_change', 'comment', 'invitation', 'manual', 'subscribed');

-- What people are told about.
create table subjects (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  type text not null check (type in ('Issue', 'PullRequest', 'Commit', 'Release', 'RepositoryInvitation')),
  issue_id bigint references issues on delete cascade,
  release_id bigint references releases on delete cascade,
  -- An invitation that was accepted is gone, and what was said of it stays.
  invitation_id bigint,
  commit_id text,
  -- Of a commit, which the database knows nothing else of: the first line of its message.
  title text,
  -- The newest thing that was said there.
  latest_type text check (latest_type in ('IssueComment', 'PullRequestReview', 'PullRequestReviewComment', 'CommitComment')),
  latest_id bigint
);
create unique index subjects_issue on subjects (issue_id) where issue_id is not null;
create unique index subjects_release on subjects (release_id) where release_id is not null;
create unique index subjects_invitation on subjects (invitation_id) where invitation_id is not null;
create unique index subjects_commit on subjects (repo_id, commit_id) where commit_id is not null;
create index subjects_repo on subjects (repo_id);

-- Acts that people are told of. Written in the transaction of the act; `told_at` is set by the one that tells everyone.
create table notices (
  id bigint generated always as identity primary key,
  subject_id bigint not null references subjects on delete cascade,
  actor_id bigint not null,
  act text not null,
  -- Whom it concerns: those who were assigned, asked for a review, or invited.
  people bigint[] not null,
  teams bigint[] not null,
  -- What was written, until those who are mentioned in it were found; and what stood there before it was changed.
  body text,
  body_before text,
  said_type text,
  said_id bigint,
  created_at timestamptz not null,
  told_at timestamptz
);
create index notices_untold on notices (subject_id, id) where told_at is null;
create index notices_subject on notices (subject_id);
create index notices_told on notices using brin (told_at);

-- Who takes part in a conversation, and why; or wants to hear nothing of it.
create table thread_subscriptions (
  subject_id bigint not null references subjects on delete cascade,
  user_id bigint not null references accounts on delete cascade,
  state text not null check (state in ('subscribed', 'muted', 'ignored')),
  reason notification_reason not null,
  created_at timestamptz not null,
  primary key (subject_id, user_id)
);
create index thread_subscriptions_user on thread_subscriptions (user_id);

-- What one person is told of one subject. An act may tell a hundred thousand people, so no row is checked against other tables one
-- by one: see forget_threads.
create table threads (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  repo_id bigint not null,
  subject_id bigint not null,
  reason notification_reason not null,
  unread boolean not null default true,
  done boolean not null default false,
  updated_at timestamptz not null,
  last_read_at timestamptz,
  -- The transaction that changed it last, see log_position: what somebody had seen when they marked it is told by this, not by time.
  position bigint not null,
  -- The notices that it tells of, oldest first, and why it told of each.
  notice_ids bigint[] not null,
  reasons notification_reason[] not null
);
create unique index threads_subject on threads (subject_id, user_id);
create index threads_unread on threads (user_id, updated_at, id) where unread and not done;
create index threads_inbox on threads (user_id, updated_at, id) where not done;
create index threads_done on threads (user_id, updated_at, id) where done;
create index threads_participating on threads (user_id, updated_at, id) where reason <> 'subscribed' and not done;
create index threads_repo on threads (user_id, repo_id, updated_at, id);
create index threads_changed on threads (user_id, position);
create index threads_updated on threads using brin (updated_at) with (pages_per_range = 16);

create function forget_threads() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'subjects' then delete from threads where subject_id in (select id from gone);
  else delete from threads where user_id in (select id from gone);
  end if;
  return null;
end
$$;
create trigger forget_threads_of_subject after delete on subjects referencing old table as gone
  for each statement execute function forget_threads();
create trigger forget_threads_of_account after delete on accounts referencing old table as gone
  for each statement execute function forget_threads();

-- The lists that people ask for again and again: what each was when it was last read, and since when it is so.
create table notification_views (
  user_id bigint not null references accounts on delete cascade,
  view text not null,
  digest bytea not null,
  changed_at timestamptz not null,
  primary key (user_id, view)
);
