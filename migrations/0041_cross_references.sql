-- An issue or pull request (`source_id`) whose text, or a comment on it, refers to another (`issue_id`): once for each pair. The reference
-- ends with the text that made it.
create table cross_references (
  id bigint generated always as identity primary key,
  issue_id bigint not null references issues on delete cascade,
  source_id bigint not null references issues on delete cascade,
  comment_id bigint references comments on delete cascade,
  actor_id bigint references accounts on delete set null,
  created_at timestamptz not null,
  unique (issue_id, source_id)
);
create index cross_references_source on cross_references (source_id);
create index cross_references_comment on cross_references (comment_id) where comment_id is not null;
create index cross_references_actor on cross_references (actor_id) where actor_id is not null;
