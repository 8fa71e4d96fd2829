-- Whether a repository runs automation of its own: an import would set it off.
alter table repositories add column automation boolean not null default false;

-- The bringing of a repository from elsewhere: the one that runs, or the last that did. A repository has one at a time.
create table imports (
  id bigint generated always as identity primary key,
  repo_id bigint not null unique references repositories on delete cascade,
  requester_id bigint references accounts on delete set null,
  -- Null as long as it is not known.
  vcs text check (vcs in ('git', 'subversion', 'mercurial', 'tfvc')),
  -- Never with a user name or password in it.
  vcs_url text not null,
  svn_root text,
  tfvc_project text,
  -- User name and password, sealed for this very import, see vault.ts; gone when it ends.
  credentials bytea,
  use_lfs text not null check (use_lfs in ('undecided', 'opt_in', 'opt_out')),
  -- Whether every revision is compared with the source, or some.
  verify_all boolean not null default false,
  status text not null check (status in ('detecting', 'importing', 'mapping', 'pushing', 'complete', 'auth_failed', 'error',
    'detection_needs_auth', 'detection_found_nothing', 'detection_found_multiple')),
  -- Goes on with each change of what is to be done: a run that was begun for another number has nothing more to say.
  run integer not null default 1,
  -- Whether there is something to do, and whether somebody waits for a choice before it goes on.
  active boolean not null,
  commit_count integer,
  percent integer check (percent between 0 and 100),
  push_percent integer check (push_percent between 0 and 100),
  failed_step text,
  message text,
  project_choices jsonb,
  large_files_count integer not null default 0,
  large_files_size bigint not null default 0,
  authors_count integer not null default 0,
  -- What came of it: counts, what was dropped, what was compared.
  report jsonb,
  -- The refs as they were published: as long as they are where they were, authors can be corrected.
  published jsonb,
  -- From where to where refs were last about to move: whoever goes on after a crash finds them at either.
  moving jsonb,
  -- Authors were corrected after the last time that commits were written.
  correcting boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When whoever runs it was last heard of.
  heard_at timestamptz,
  finished_at timestamptz
);
create index imports_active on imports (id) where active;
create index imports_requester on imports (requester_id);

-- Who the commits are by: as the source says, and as they are to be.
create table import_authors (
  id bigint generated always as identity primary key,
  import_id bigint not null references imports on delete cascade,
  remote_id text not null,
  remote_name text not null,
  -- As commits name them before any correction: two who are corrected to one can be told apart again.
  original_name text not null,
  original_email text not null,
  name text not null,
  email text not null,
  unique (import_id, remote_id)
);
create index import_authors_list on import_authors (import_id, id);

create table import_large_files (
  import_id bigint not null references imports on delete cascade,
  place integer not null,
  ref_name text not null,
  path text not null,
  oid text not null,
  size bigint not null,
  primary key (import_id, place)
);

-- Which contents a repository has in the store of large files, by the SHA-256 of each.
create table lfs_objects (
  repo_id bigint not null references repositories on delete cascade,
  oid text not null check (oid ~ '^[0-9a-f]{64}$'),
  size bigint not null,
  created_at timestamptz not null,
  primary key (repo_id, oid)
);
create index lfs_objects_oid on lfs_objects (oid);
