-- Which process began a push, as "host pid start-time". When that process is gone and no git works in the repository, the push is over.
alter table pushes add column server text;

-- Differences between a repository on disk and the database that were found and settled, for operators.
create table ref_repairs (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  ref text not null,
  -- What the database named, and what was on disk. Null where there was none.
  recorded_sha text,
  disk_sha text,
  outcome text not null check (outcome in ('restored', 'adopted', 'lost')),
  found_at timestamptz not null
);
create index ref_repairs_repo on ref_repairs (repo_id);
create index ref_repairs_found on ref_repairs (found_at);
