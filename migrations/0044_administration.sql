-- What a node measured in a minute: requests, failures, and the state of queues. Kept for 30 days.
create table site_samples (
  at timestamptz not null,
  node text not null,
  facts jsonb not null,
  primary key (at, node)
);

-- Requests that failed or were slow, for administrators. The newest thousand are kept.
create table request_reports (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  request_id text not null,
  method text not null,
  path text not null,
  status integer not null,
  milliseconds double precision not null
);

-- Who changed rights, accounts and repositories. Logins are kept as they were, because accounts can be renamed and deleted.
create table audit_entries (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor_id bigint references accounts (id) on delete set null,
  actor_login text not null,
  action text not null,
  subject text not null
);
create index audit_entries_actor on audit_entries (actor_id, id) where actor_id is not null;
create index audit_entries_action on audit_entries (action, id);
