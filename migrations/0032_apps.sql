-- Apps: programs with an identity of their own, which accounts install for all or some of their repositories.

-- An app acts as its bot. The login of a bot ends in [bot], which no other login can contain.
alter table accounts drop constraint accounts_type_check;
alter table accounts add constraint accounts_type_check check (type in ('User', 'Organization', 'Bot'));

-- The name, owner, home page, callback and client credentials of an app are those of its OAuth application.
create table apps (
  id bigint generated always as identity primary key,
  application_id bigint not null unique references applications on delete cascade,
  bot_id bigint not null unique references accounts,
  slug text not null unique,
  permissions jsonb not null,
  events text[] not null,
  -- Other accounts than the owner may install it.
  public boolean not null,
  setup_url text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- The public half of each key; the private half is shown once and not stored.
create table app_keys (
  id bigint generated always as identity primary key,
  app_id bigint not null references apps on delete cascade,
  public_key text not null,
  fingerprint text not null,
  created_at timestamptz not null
);
create index app_keys_app on app_keys (app_id);

-- Codes of the manifest flow: each gives the credentials of a new app once.
create table app_manifest_codes (
  digest bytea primary key,
  app_id bigint not null references apps on delete cascade,
  expires_at timestamptz not null
);
create index app_manifest_codes_app on app_manifest_codes (app_id);
create index app_manifest_codes_expiry on app_manifest_codes (expires_at);

create table installations (
  id bigint generated always as identity primary key,
  app_id bigint not null references apps on delete cascade,
  account_id bigint not null references accounts on delete cascade,
  all_repositories boolean not null,
  -- As the account accepted them.
  permissions jsonb not null,
  events text[] not null,
  suspended_at timestamptz,
  suspended_by bigint references accounts on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (app_id, account_id)
);
create index installations_account on installations (account_id);
create index installations_suspended_by on installations (suspended_by) where suspended_by is not null;

create table installation_repositories (
  installation_id bigint not null references installations on delete cascade,
  repo_id bigint not null references repositories on delete cascade,
  primary key (installation_id, repo_id)
);
create index installation_repositories_repo on installation_repositories (repo_id);

-- Responses to tokens of apps depend on these rows, which change rarely.
create trigger touch_insert after insert on installations
  referencing new table as changed for each statement execute function touch_everything();
create trigger touch_update after update on installations
  referencing new table as changed for each statement execute function touch_everything();
create trigger touch_delete after delete on installations
  referencing old table as changed for each statement execute function touch_everything();
create trigger touch_insert after insert on installation_repositories
  referencing new table as changed for each statement execute function touch_everything();
create trigger touch_delete after delete on installation_repositories
  referencing old table as changed for each statement execute function touch_everything();

-- installation: acts as the bot in the repositories of an installation. app_user: acts for a user in the repositories of all installations.
alter table tokens add column installation_id bigint references installations on delete cascade;
alter table tokens add column app_id bigint references apps on delete cascade;
alter table tokens drop constraint tokens_kind_check;
alter table tokens add constraint tokens_kind_check check (kind in ('classic', 'fine_grained', 'oauth', 'installation', 'app_user'));
alter table tokens add constraint tokens_installation_check check ((kind = 'installation') = (installation_id is not null));
alter table tokens add constraint tokens_app_check check ((kind = 'app_user') = (app_id is not null));
create index tokens_installation on tokens (installation_id, expires_at) where installation_id is not null;
create index tokens_app on tokens (app_id) where app_id is not null;

create or replace function token_reaches(token bigint, repo repositories) returns boolean language sql stable as $$
  select exists (
    select from tokens t where t.id = token
      and (t.kind = 'app_user' or (t.resource_owner_id = repo.owner_id
        and (t.all_repositories or exists (select from token_repositories c where c.token_id = t.id and c.repo_id = repo.id))))
      and (t.kind = 'fine_grained' or exists (
        select from installations i where (i.id = t.installation_id or i.app_id = t.app_id)
          and i.account_id = repo.owner_id and i.suspended_at is null
          and (i.all_repositories or exists (
            select from installation_repositories c where c.installation_id = i.id and c.repo_id = repo.id)))))
$$;

-- The webhook of an app gets the events of all repositories that the app is installed on.
alter table hooks add column app_id bigint references apps on delete set null;
create unique index hooks_app on hooks (app_id) where app_id is not null;
alter table hooks drop constraint hooks_target_type_check;
alter table hooks add constraint hooks_target_type_check check (target_type in ('repository', 'organization', 'integration'));
