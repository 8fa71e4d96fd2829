-- A pull request is an issue, with a branch that asks to become part of another.
create table pulls (
  id bigint generated always as identity primary key,
  issue_id bigint not null unique references issues on delete cascade,
  repo_id bigint not null references repositories on delete cascade,
  -- Where the commits come from: the branch of a repository of the same network, which may be gone by now.
  head_repo_id bigint references repositories on delete set null,
  head_owner_id bigint references accounts on delete set null,
  head_ref text not null,
  head_sha text not null,
  base_ref text not null,
  base_sha text not null,
  draft boolean not null default false,
  maintainer_can_modify boolean not null default false,
  merged_at timestamptz,
  merged_by_id bigint references accounts on delete set null,
  merge_commit_sha text,
  -- What a trial merge found, and for which two commits; null until one was made.
  mergeable_state text check (mergeable_state in ('clean', 'dirty', 'nothing', 'unknown')),
  mergeable_head text,
  mergeable_base text,
  -- How much it is, as last counted.
  commits integer not null default 0,
  additions integer not null default 0,
  deletions integer not null default 0,
  changed_files integer not null default 0
);
create index pulls_repo on pulls (repo_id);
create index pulls_head on pulls (head_repo_id, head_ref);
create index pulls_base on pulls (repo_id, base_ref);
create index pulls_head_owner on pulls (head_owner_id);
create index pulls_merged_by on pulls (merged_by_id) where merged_by_id is not null;

-- Who is asked to review, and has not done so since.
create table review_requests (
  pull_id bigint not null references pulls on delete cascade,
  user_id bigint references accounts on delete cascade,
  team_id bigint references teams on delete cascade,
  requested_at timestamptz not null,
  check (num_nonnulls(user_id, team_id) = 1)
);
create unique index review_requests_user on review_requests (pull_id, user_id) where user_id is not null;
create unique index review_requests_team on review_requests (pull_id, team_id) where team_id is not null;
create index review_requests_of_user on review_requests (user_id) where user_id is not null;
create index review_requests_of_team on review_requests (team_id) where team_id is not null;

-- A pending review is its author's alone until it is submitted.
create table reviews (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  pull_id bigint not null references pulls on delete cascade,
  author_id bigint references accounts on delete set null,
  state text not null check (state in ('PENDING', 'APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED')),
  body text not null,
  commit_id text not null,
  dismissal text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  submitted_at timestamptz
);
create index reviews_pull on reviews (pull_id, id);
create unique index reviews_pending on reviews (pull_id, author_id) where state = 'PENDING';
create index reviews_author on reviews (author_id);
create index reviews_repo on reviews (repo_id);

create table review_comments (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  pull_id bigint not null references pulls on delete cascade,
  review_id bigint references reviews on delete cascade,
  in_reply_to_id bigint references review_comments on delete set null,
  author_id bigint references accounts on delete set null,
  body text not null,
  path text not null,
  commit_id text not null,
  original_commit_id text not null,
  diff_hunk text not null,
  position integer,
  line integer,
  start_line integer,
  side text check (side in ('LEFT', 'RIGHT')),
  start_side text check (start_side in ('LEFT', 'RIGHT')),
  subject_type text not null default 'line' check (subject_type in ('line', 'file')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index review_comments_pull on review_comments (pull_id, id);
create index review_comments_review on review_comments (review_id, id);
create index review_comments_reply on review_comments (in_reply_to_id) where in_reply_to_id is not null;
create index review_comments_repo on review_comments (repo_id, id);
create index review_comments_updated on review_comments (repo_id, updated_at, id);
create index review_comments_author on review_comments (author_id);

create table commit_comments (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  commit_id text not null,
  author_id bigint references accounts on delete set null,
  body text not null,
  path text,
  position integer,
  line integer,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index commit_comments_repo on commit_comments (repo_id, id);
create index commit_comments_commit on commit_comments (repo_id, commit_id, id);
create index commit_comments_author on commit_comments (author_id);

-- What is about a pull request goes with its repository; what was said may go before it.
create or replace function mention_shown(kind text, payload jsonb, viewer bigint, token bigint) returns boolean language plpgsql stable as $$
begin
  return case kind
    when 'ForkEvent' then exists (
      select from repositories f where f.id = (payload->>'forkee_id')::bigint
        and (not f.private or (access_by_name(viewer, f) > 0 and (token is null or token_reaches(token, f)))))
    when 'MemberEvent' then exists (select from accounts where id = (payload->>'member_id')::bigint)
    when 'ReleaseEvent' then exists (select from releases where id = (payload->>'release_id')::bigint and not draft)
    when 'IssueCommentEvent' then exists (select from comments where id = (payload->>'comment_id')::bigint)
    when 'PullRequestReviewEvent' then exists (select from reviews where id = (payload->>'review_id')::bigint)
    when 'PullRequestReviewCommentEvent' then exists (select from review_comments where id = (payload->>'review_comment_id')::bigint)
    when 'CommitCommentEvent' then exists (select from commit_comments where id = (payload->>'commit_comment_id')::bigint)
    else true end;
end
$$;
