-- Statuses that programs report for commits. Those of a context follow each other; the last one counts.
create table commit_statuses (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  sha text not null,
  context text not null,
  state text not null check (state in ('error', 'failure', 'pending', 'success')),
  description text,
  target_url text,
  creator_id bigint references accounts on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index commit_statuses_commit on commit_statuses (repo_id, sha, id desc);
create index commit_statuses_creator on commit_statuses (creator_id);

-- The last status of each context, so that the state of a commit is read without its history.
create table status_contexts (
  repo_id bigint not null references repositories on delete cascade,
  sha text not null,
  context text not null,
  state text not null,
  status_id bigint not null references commit_statuses on delete cascade,
  statuses_count integer not null,
  primary key (repo_id, sha, context)
);
create index status_contexts_status on status_contexts (status_id);

-- The check runs of one app for one commit. `status` and `conclusion` follow from the latest runs.
create table check_suites (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  -- Null: Belfry's own app, for runs that a user's token created.
  app_id bigint,
  head_sha text not null,
  head_branch text,
  before_sha text,
  status text not null default 'queued' check (status in ('queued', 'in_progress', 'completed')),
  conclusion text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique nulls not distinct (repo_id, head_sha, app_id)
);

create table check_runs (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  suite_id bigint not null references check_suites on delete cascade,
  head_sha text not null,
  name text not null,
  -- False when the suite has a newer run of this name.
  latest boolean not null default true,
  status text not null check (status in ('queued', 'in_progress', 'completed')),
  conclusion text check (conclusion in
    ('action_required', 'cancelled', 'failure', 'neutral', 'success', 'skipped', 'stale', 'timed_out')),
  details_url text,
  external_id text not null default '',
  started_at timestamptz not null,
  completed_at timestamptz,
  output_title text,
  output_summary text,
  output_text text,
  annotations_count integer not null default 0,
  creator_id bigint references accounts on delete set null,
  check ((status = 'completed') = (conclusion is not null))
);
create index check_runs_suite on check_runs (suite_id, id desc);
create index check_runs_commit on check_runs (repo_id, head_sha, id desc);
create index check_runs_creator on check_runs (creator_id);

create table check_annotations (
  id bigint generated always as identity primary key,
  run_id bigint not null references check_runs on delete cascade,
  path text not null,
  start_line integer not null,
  end_line integer not null,
  start_column integer,
  end_column integer,
  annotation_level text not null check (annotation_level in ('notice', 'warning', 'failure')),
  message text not null,
  title text,
  raw_details text
);
create index check_annotations_run on check_annotations (run_id, id);

-- What protects a branch, by its name: the branch may be deleted and made again.
create table branch_protections (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  branch text not null,
  -- Null: no checks are required.
  strict_checks boolean,
  -- Null: changes need no pull request.
  approvals_count smallint check (approvals_count between 0 and 6),
  dismiss_stale_reviews boolean not null default false,
  restricts_dismissals boolean not null default false,
  restricts_pushes boolean not null default false,
  enforce_admins boolean not null default false,
  required_linear_history boolean not null default false,
  required_signatures boolean not null default false,
  allow_force_pushes boolean not null default false,
  allow_deletions boolean not null default false,
  block_creations boolean not null default false,
  lock_branch boolean not null default false,
  allow_fork_syncing boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (repo_id, branch)
);

create table required_checks (
  protection_id bigint not null references branch_protections on delete cascade,
  context text not null,
  -- Null: any app, or a status.
  app_id bigint,
  primary key (protection_id, context)
);

-- Users and teams that may push, dismiss reviews, or push without a pull request.
create table protection_actors (
  protection_id bigint not null references branch_protections on delete cascade,
  list text not null check (list in ('restrictions', 'dismissal_restrictions', 'bypass_pull_request_allowances')),
  user_id bigint references accounts on delete cascade,
  team_id bigint references teams on delete cascade,
  check (num_nonnulls(user_id, team_id) = 1),
  unique nulls not distinct (protection_id, list, user_id, team_id)
);
create index protection_actors_user on protection_actors (user_id);
create index protection_actors_team on protection_actors (team_id);

create table environments (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (repo_id, name)
);

create table deployments (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  sha text not null,
  ref text not null,
  task text not null,
  environment text not null,
  original_environment text not null,
  payload jsonb not null,
  description text,
  transient_environment boolean not null,
  production_environment boolean not null,
  -- The last status; null before the first.
  state text,
  creator_id bigint references accounts on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index deployments_repository on deployments (repo_id, id desc);
create index deployments_environment on deployments (repo_id, environment, id desc);
create index deployments_creator on deployments (creator_id);

create table deployment_statuses (
  id bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  state text not null,
  description text not null,
  environment text not null,
  environment_url text not null,
  log_url text not null,
  creator_id bigint references accounts on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index deployment_statuses_deployment on deployment_statuses (deployment_id, id desc);
create index deployment_statuses_creator on deployment_statuses (creator_id);
