-- Threads of reviews that somebody has resolved. A thread has the id of its first comment.
create table resolved_threads (
  thread_id bigint primary key references review_comments (id) on delete cascade,
  repo_id bigint not null references repositories (id) on delete cascade,
  pull_id bigint not null references pulls (id) on delete cascade,
  resolver_id bigint references accounts (id) on delete set null,
  resolved_at timestamptz not null
);
create index resolved_threads_repo on resolved_threads (repo_id);
create index resolved_threads_pull on resolved_threads (pull_id);
create index resolved_threads_resolver on resolved_threads (resolver_id);

create trigger touch_conversations_on_insert after insert on resolved_threads referencing new table as changed
  for each statement execute function touch_conversations();
create trigger touch_conversations_on_delete after delete on resolved_threads referencing old table as changed
  for each statement execute function touch_conversations();
