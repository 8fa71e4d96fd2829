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
  -- The last notice that was there when they came to take part: what was before that is not told them for it, however late it is told.
  after_notice bigint not null default 0,
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
  -- Put away by its reader, until something new happens.
  done boolean not null default false,
  updated_at timestamptz not null,
  last_read_at timestamptz,
  -- The transaction that changed it last, see log_position: what somebody had seen when they marked it is told by this, not by time.
  position bigint not null,
  -- The last notices that it tells of, oldest first, and why it told of each.
  notice_ids bigint[] not null,
  reasons notification_reason[] not null
);
create unique index threads_subject on threads (subject_id, user_id);
create index threads_unread on threads (user_id, updated_at, id) where unread;
create index threads_inbox on threads (user_id, updated_at, id) where not done;
create index threads_done on threads (user_id, updated_at, id) where done;
create index threads_participating on threads (user_id, updated_at, id) where reason <> 'subscribed';
create index threads_repo on threads (user_id, repo_id, updated_at, id);
create index threads_changed on threads (user_id, position, id);
create index threads_updated on threads using brin (updated_at) with (pages_per_range = 16);

-- Threads of what is gone are shown to nobody, and deleted by a job: there may be millions.
create function forget_threads() returns trigger language plpgsql as $$
begin
  if exists (select from gone) then
    perform graphile_worker.add_job('forget_threads', json_build_object(tg_argv[0], (select json_agg(id) from gone)));
  end if;
  return null;
end
$$;
create trigger forget_threads_of_subject after delete on subjects referencing old table as gone
  for each statement execute function forget_threads('subject_ids');
create trigger forget_threads_of_account after delete on accounts referencing old table as gone
  for each statement execute function forget_threads('user_ids');

-- Whether what stands at a position of the log was there to be seen in a snapshot. What came with a dump was there before any.
create function log_seen(place bigint, snapshot pg_snapshot, base bigint) returns boolean language sql immutable as $$
  select pg_visible_in_snapshot(greatest(place - base, 3)::text::xid8, snapshot)
$$;

-- Answers that clients ask for again and again: which it was when it was last given, and since when it is so.
create table dated_answers (
  key text primary key,
  etag text not null,
  changed_at timestamptz not null
);
create index dated_answers_changed on dated_answers (changed_at);
