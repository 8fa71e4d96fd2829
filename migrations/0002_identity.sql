-- People who signed in on a page. The cookie's value is kept as its digest only.
create table sessions (
  id bigint generated always as identity primary key,
  user_id bigint not null references accounts on delete cascade,
  digest bytea not null unique,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  -- The password was right, and the second factor is still to come: good for nothing else.
  awaits_code boolean not null default false,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id, last_seen_at);

-- How a person shows a second time who they are. The secret is encrypted; a code's time step is used once.
create table two_factor (
  user_id bigint primary key references accounts on delete cascade,
  kind text not null check (kind in ('app', 'sms')),
  secret bytea,
  phone text,
  last_step bigint not null default 0,
  enabled_at timestamptz not null
);
create table recovery_codes (
  user_id bigint not null references accounts on delete cascade,
  digest bytea not null,
  primary key (user_id, digest)
);
-- The one code last sent to a phone.
create table sent_codes (
  user_id bigint primary key references accounts on delete cascade,
  digest bytea not null,
  sent_at timestamptz not null,
  expires_at timestamptz not null
);

-- Wrong passwords and codes, by account and by address: all nodes slow down guessing together.
create table failed_sign_ins (
  subject text not null,
  failed_at timestamptz not null
);
create index failed_sign_ins_subject on failed_sign_ins (subject, failed_at);
create index failed_sign_ins_time on failed_sign_ins (failed_at);

-- Programs that people let act for them.
create table applications (
  id bigint generated always as identity primary key,
  client_id text not null unique,
  secret_digest bytea not null,
  secret_last_eight text not null,
  owner_id bigint not null references accounts on delete cascade,
  name text not null,
  url text not null,
  description text,
  callback_url text not null,
  strict_redirect boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index applications_owner on applications (owner_id);

-- What a person has allowed an application, all its tokens together.
create table grants (
  id bigint generated always as identity primary key,
  application_id bigint not null references applications on delete cascade,
  user_id bigint not null references accounts on delete cascade,
  scopes text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (application_id, user_id)
);
create index grants_user on grants (user_id);

create table authorization_codes (
  digest bytea primary key,
  application_id bigint not null references applications on delete cascade,
  user_id bigint not null references accounts on delete cascade,
  redirect_uri text not null,
  scopes text[] not null,
  code_challenge text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index authorization_codes_grant on authorization_codes (application_id, user_id);
create index authorization_codes_expiry on authorization_codes (expires_at);

create table device_codes (
  digest bytea primary key,
  user_code text not null unique,
  application_id bigint not null references applications on delete cascade,
  scopes text[] not null,
  interval_seconds integer not null default 5,
  polled_at timestamptz,
  -- Who decided, and how; null while nobody has.
  user_id bigint references accounts on delete cascade,
  allowed boolean,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index device_codes_expiry on device_codes (expires_at);

alter table tokens
  add column kind text not null default 'classic' check (kind in ('classic', 'fine_grained', 'oauth')),
  add column application_id bigint references applications on delete cascade,
  -- The authorization code it was issued for: a code presented twice ends it.
  add column code_digest bytea,
  add column note_url text,
  add column fingerprint text,
  add column last_used_at timestamptz,
  -- Fine-grained tokens: what they may do, by permission, and where; null repositories are all of the user's own.
  add column permissions jsonb,
  add column resource_owner_id bigint references accounts on delete cascade,
  add column all_repositories boolean not null default true;
create index tokens_application on tokens (application_id, user_id, created_at) where application_id is not null;
create index tokens_code on tokens (code_digest) where code_digest is not null;

create table token_repositories (
  token_id bigint not null references tokens on delete cascade,
  repo_id bigint not null references repositories on delete cascade,
  primary key (token_id, repo_id)
);
create index token_repositories_repo on token_repositories (repo_id);

-- Public keys of people, and of repositories (deploy keys). One key opens one door.
create table ssh_keys (
  id bigint generated always as identity primary key,
  user_id bigint references accounts on delete cascade,
  repo_id bigint references repositories on delete cascade,
  title text not null,
  key text not null,
  fingerprint text not null unique,
  read_only boolean not null default false,
  added_by bigint references accounts on delete cascade,
  -- The application that made it for the person who added it.
  application_id bigint references applications on delete set null,
  created_at timestamptz not null,
  check ((user_id is null) <> (repo_id is null))
);
create index ssh_keys_user on ssh_keys (user_id) where user_id is not null;
create index ssh_keys_repo on ssh_keys (repo_id) where repo_id is not null;
create index ssh_keys_application on ssh_keys (application_id, added_by) where application_id is not null;

-- Whether a fine-grained token was made for this repository.
create function token_reaches(token bigint, repo repositories) returns boolean language sql stable as $$
  select exists (
    select from tokens t where t.id = token and t.resource_owner_id = repo.owner_id
      and (t.all_repositories or exists (select from token_repositories c where c.token_id = t.id and c.repo_id = repo.id)))
$$;
