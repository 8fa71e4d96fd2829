-- What a page hands to the next one of the same person: a result to show once after a redirect, or a form that was sent when the session had
-- ended. Encrypted, because it may hold a new token or a private text; found by the digest of a random key in the address.
create table page_states (
  id bigint generated always as identity primary key,
  digest bytea not null unique,
  user_id bigint not null references accounts on delete cascade,
  content bytea not null,
  expires_at timestamptz not null
);
create index page_states_user on page_states (user_id, id);
create index page_states_expiry on page_states (expires_at);
