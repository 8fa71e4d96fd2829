-- The schema that migrations/ creates. Written by "npm run schema"; test/schema.test.ts compares it. Do not edit.

create type notification_reason as enum ('mention', 'review_requested', 'assign', 'team_mention', 'author', 'state_change', 'comment', 'invitation', 'manual', 'subscribed');

create sequence attempt_reservations as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807 cache 1;

create sequence delivery_numbers as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807 cache 1;

create table accepted_invitations (
  id bigint not null,
  repo_id bigint not null,
  invitee_id bigint not null,
  inviter_id bigint not null,
  access smallint not null,
  created_at timestamp with time zone not null,
  accepted_at timestamp with time zone not null
);
alter table accepted_invitations add constraint accepted_invitations_access_check CHECK (((access >= 1) AND (access <= 5)));
alter table accepted_invitations add constraint accepted_invitations_invitee_id_fkey FOREIGN KEY (invitee_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table accepted_invitations add constraint accepted_invitations_inviter_id_fkey FOREIGN KEY (inviter_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table accepted_invitations add constraint accepted_invitations_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table accepted_invitations add constraint accepted_invitations_pkey PRIMARY KEY (id);
CREATE INDEX accepted_invitations_invitee ON accepted_invitations USING btree (invitee_id);
CREATE INDEX accepted_invitations_inviter ON accepted_invitations USING btree (inviter_id);
CREATE INDEX accepted_invitations_repo ON accepted_invitations USING btree (repo_id);
CREATE TRIGGER touch_delete AFTER DELETE ON accepted_invitations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_invitations();
CREATE TRIGGER touch_insert AFTER INSERT ON accepted_invitations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_invitations();

create table accounts (
  id bigint generated always as identity not null,
  type text not null,
  login text not null,
  name text,
  email text,
  company text,
  blog text,
  location text,
  bio text,
  twitter_username text,
  hireable boolean,
  site_admin boolean default false not null,
  suspended_at timestamp with time zone,
  password_hash text,
  member_access smallint default 1 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  email_verified boolean default false not null,
  email_claimed_at timestamp with time zone,
  email_public boolean default false not null,
  members_can_fork_private_repositories boolean default true not null
);
alter table accounts add constraint accounts_member_access_check CHECK (((member_access >= 0) AND (member_access <= 5)));
alter table accounts add constraint accounts_type_check CHECK ((type = ANY (ARRAY['User'::text, 'Organization'::text, 'Bot'::text])));
alter table accounts add constraint accounts_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX accounts_email ON accounts USING btree (lower(email)) WHERE ((type = 'User'::text) AND email_verified);
CREATE INDEX accounts_email_claims ON accounts USING btree (lower(email), email_claimed_at, id) WHERE (type = 'User'::text);
CREATE INDEX accounts_joined ON accounts USING btree (created_at DESC) WHERE (type = 'User'::text);
CREATE UNIQUE INDEX accounts_login ON accounts USING btree (lower(login));
CREATE INDEX accounts_organizations ON accounts USING btree (id) WHERE (type = 'Organization'::text);
CREATE INDEX accounts_words ON accounts USING gin (account_document(login, name));
CREATE TRIGGER forget_threads_of_account AFTER DELETE ON accounts REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_threads('user_ids');
CREATE TRIGGER pause_hooks AFTER UPDATE OF suspended_at, member_access ON accounts FOR EACH ROW WHEN ((((old.suspended_at IS NULL) AND (new.suspended_at IS NOT NULL)) OR (new.member_access < old.member_access))) EXECUTE FUNCTION pause_hooks_of_account();
CREATE TRIGGER touch_delete AFTER DELETE ON accounts REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_update AFTER UPDATE ON accounts REFERENCING OLD TABLE AS former NEW TABLE AS latest FOR EACH STATEMENT EXECUTE FUNCTION touch_accounts();

create table app_keys (
  id bigint generated always as identity not null,
  app_id bigint not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamp with time zone not null
);
alter table app_keys add constraint app_keys_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table app_keys add constraint app_keys_pkey PRIMARY KEY (id);
CREATE INDEX app_keys_app ON app_keys USING btree (app_id);

create table app_manifest_codes (
  digest bytea not null,
  app_id bigint not null,
  expires_at timestamp with time zone not null
);
alter table app_manifest_codes add constraint app_manifest_codes_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table app_manifest_codes add constraint app_manifest_codes_pkey PRIMARY KEY (digest);
CREATE INDEX app_manifest_codes_app ON app_manifest_codes USING btree (app_id);
CREATE INDEX app_manifest_codes_expiry ON app_manifest_codes USING btree (expires_at);

create table applications (
  id bigint generated always as identity not null,
  client_id text not null,
  secret_digest bytea not null,
  secret_last_eight text not null,
  owner_id bigint not null,
  name text not null,
  url text not null,
  description text,
  callback_url text not null,
  strict_redirect boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table applications add constraint applications_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table applications add constraint applications_pkey PRIMARY KEY (id);
alter table applications add constraint applications_client_id_key UNIQUE (client_id);
CREATE INDEX applications_owner ON applications USING btree (owner_id);

create table apps (
  id bigint generated always as identity not null,
  application_id bigint not null,
  bot_id bigint not null,
  slug text not null,
  permissions jsonb not null,
  events text[] not null,
  public boolean not null,
  setup_url text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table apps add constraint apps_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE;
alter table apps add constraint apps_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES accounts(id);
alter table apps add constraint apps_pkey PRIMARY KEY (id);
alter table apps add constraint apps_application_id_key UNIQUE (application_id);
alter table apps add constraint apps_bot_id_key UNIQUE (bot_id);
alter table apps add constraint apps_slug_key UNIQUE (slug);
CREATE TRIGGER touch_update AFTER UPDATE ON apps REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();

create table attempts (
  reservation bigint not null,
  subject text not null,
  pending boolean not null,
  made_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
);
alter table attempts add constraint attempts_pkey PRIMARY KEY (reservation, subject);
CREATE INDEX attempts_expiry ON attempts USING btree (expires_at);
CREATE INDEX attempts_subject ON attempts USING btree (subject, expires_at);

create table audit_entries (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  actor_id bigint,
  actor_login text not null,
  action text not null,
  subject text not null,
  via text
);
alter table audit_entries add constraint audit_entries_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table audit_entries add constraint audit_entries_pkey PRIMARY KEY (id);
CREATE INDEX audit_entries_action ON audit_entries USING btree (action, id);
CREATE INDEX audit_entries_actor ON audit_entries USING btree (actor_id, id) WHERE (actor_id IS NOT NULL);
CREATE INDEX audit_entries_actor_login ON audit_entries USING btree (lower(actor_login), id);
CREATE INDEX audit_entries_at ON audit_entries USING btree (at, id);

create table authorization_codes (
  digest bytea not null,
  application_id bigint not null,
  user_id bigint not null,
  redirect_uri text not null,
  scopes text[] not null,
  code_challenge text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone
);
alter table authorization_codes add constraint authorization_codes_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE;
alter table authorization_codes add constraint authorization_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table authorization_codes add constraint authorization_codes_pkey PRIMARY KEY (digest);
CREATE INDEX authorization_codes_expiry ON authorization_codes USING btree (expires_at);
CREATE INDEX authorization_codes_grant ON authorization_codes USING btree (application_id, user_id);

create table branch_protections (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  branch text not null,
  strict_checks boolean,
  approvals_count smallint,
  dismiss_stale_reviews boolean default false not null,
  restricts_dismissals boolean default false not null,
  restricts_pushes boolean default false not null,
  enforce_admins boolean default false not null,
  required_linear_history boolean default false not null,
  required_signatures boolean default false not null,
  allow_force_pushes boolean default false not null,
  allow_deletions boolean default false not null,
  block_creations boolean default false not null,
  lock_branch boolean default false not null,
  allow_fork_syncing boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  required_conversation_resolution boolean default false not null
);
alter table branch_protections add constraint branch_protections_approvals_count_check CHECK (((approvals_count >= 0) AND (approvals_count <= 6)));
alter table branch_protections add constraint branch_protections_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table branch_protections add constraint branch_protections_pkey PRIMARY KEY (id);
alter table branch_protections add constraint branch_protections_repo_id_branch_key UNIQUE (repo_id, branch);

create table branch_redirects (
  repo_id bigint not null,
  name text not null,
  branch text not null
);
alter table branch_redirects add constraint branch_redirects_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table branch_redirects add constraint branch_redirects_pkey PRIMARY KEY (repo_id, name);

create table check_annotations (
  id bigint generated always as identity not null,
  run_id bigint not null,
  path text not null,
  start_line integer not null,
  end_line integer not null,
  start_column integer,
  end_column integer,
  annotation_level text not null,
  message text not null,
  title text,
  raw_details text
);
alter table check_annotations add constraint check_annotations_annotation_level_check CHECK ((annotation_level = ANY (ARRAY['notice'::text, 'warning'::text, 'failure'::text])));
alter table check_annotations add constraint check_annotations_run_id_fkey FOREIGN KEY (run_id) REFERENCES check_runs(id) ON DELETE CASCADE;
alter table check_annotations add constraint check_annotations_pkey PRIMARY KEY (id);
CREATE INDEX check_annotations_run ON check_annotations USING btree (run_id, id);

create table check_runs (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  suite_id bigint not null,
  head_sha text not null,
  name text not null,
  latest boolean default true not null,
  status text not null,
  conclusion text,
  details_url text,
  external_id text default ''::text not null,
  started_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  output_title text,
  output_summary text,
  output_text text,
  annotations_count integer default 0 not null,
  creator_id bigint
);
alter table check_runs add constraint check_runs_check CHECK (((status = 'completed'::text) = (conclusion IS NOT NULL)));
alter table check_runs add constraint check_runs_conclusion_check CHECK ((conclusion = ANY (ARRAY['action_required'::text, 'cancelled'::text, 'failure'::text, 'neutral'::text, 'success'::text, 'skipped'::text, 'stale'::text, 'timed_out'::text])));
alter table check_runs add constraint check_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'completed'::text])));
alter table check_runs add constraint check_runs_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table check_runs add constraint check_runs_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table check_runs add constraint check_runs_suite_id_fkey FOREIGN KEY (suite_id) REFERENCES check_suites(id) ON DELETE CASCADE;
alter table check_runs add constraint check_runs_pkey PRIMARY KEY (id);
CREATE INDEX check_runs_commit ON check_runs USING btree (repo_id, head_sha, id DESC);
CREATE INDEX check_runs_creator ON check_runs USING btree (creator_id);
CREATE INDEX check_runs_suite ON check_runs USING btree (suite_id, id DESC);
CREATE TRIGGER touch_conversations_on_insert AFTER INSERT ON check_runs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations();
CREATE TRIGGER touch_conversations_on_update AFTER UPDATE ON check_runs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations();

create table check_suite_preferences (
  repo_id bigint not null,
  app_id bigint not null,
  setting boolean not null
);
alter table check_suite_preferences add constraint check_suite_preferences_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table check_suite_preferences add constraint check_suite_preferences_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table check_suite_preferences add constraint check_suite_preferences_pkey PRIMARY KEY (repo_id, app_id);
CREATE INDEX check_suite_preferences_app ON check_suite_preferences USING btree (app_id);

create table check_suites (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  app_id bigint,
  head_sha text not null,
  head_branch text,
  before_sha text,
  status text default 'queued'::text not null,
  conclusion text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table check_suites add constraint check_suites_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'completed'::text])));
alter table check_suites add constraint check_suites_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table check_suites add constraint check_suites_pkey PRIMARY KEY (id);
alter table check_suites add constraint check_suites_repo_id_head_sha_app_id_key UNIQUE NULLS NOT DISTINCT (repo_id, head_sha, app_id);

create table collaborators (
  repo_id bigint not null,
  user_id bigint not null,
  access smallint not null,
  created_at timestamp with time zone not null
);
alter table collaborators add constraint collaborators_access_check CHECK (((access >= 1) AND (access <= 5)));
alter table collaborators add constraint collaborators_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table collaborators add constraint collaborators_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table collaborators add constraint collaborators_pkey PRIMARY KEY (repo_id, user_id);
CREATE INDEX collaborators_user ON collaborators USING btree (user_id);
CREATE TRIGGER pause_hooks AFTER DELETE ON collaborators REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pause_hooks_of_gone_users();
CREATE TRIGGER pause_hooks_of_lowered AFTER UPDATE OF access ON collaborators FOR EACH ROW WHEN ((new.access < old.access)) EXECUTE FUNCTION pause_hooks_of_user();
CREATE TRIGGER touch_delete AFTER DELETE ON collaborators REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();
CREATE TRIGGER touch_insert AFTER INSERT ON collaborators REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();
CREATE TRIGGER touch_update AFTER UPDATE ON collaborators REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();

create table comments (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  issue_id bigint not null,
  author_id bigint,
  body text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  editor_id bigint
);
alter table comments add constraint comments_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table comments add constraint comments_editor_id_fkey FOREIGN KEY (editor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table comments add constraint comments_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table comments add constraint comments_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table comments add constraint comments_pkey PRIMARY KEY (id);
CREATE INDEX comments_author_id ON comments USING btree (author_id, id);
CREATE INDEX comments_editor ON comments USING btree (editor_id) WHERE (editor_id IS NOT NULL);
CREATE INDEX comments_issue ON comments USING btree (issue_id, id);
CREATE INDEX comments_repo ON comments USING btree (repo_id, id);
CREATE INDEX comments_updated ON comments USING btree (repo_id, updated_at, id);
CREATE INDEX comments_words ON comments USING gin (search_document(NULL::text, body));
CREATE TRIGGER count_new_comments AFTER INSERT ON comments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
CREATE TRIGGER count_old_comments AFTER DELETE ON comments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
CREATE TRIGGER touch_delete AFTER DELETE ON comments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();
CREATE TRIGGER touch_update AFTER UPDATE ON comments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();

create table commit_comments (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  commit_id text not null,
  author_id bigint,
  body text not null,
  path text,
  "position" integer,
  line integer,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  editor_id bigint
);
alter table commit_comments add constraint commit_comments_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table commit_comments add constraint commit_comments_editor_id_fkey FOREIGN KEY (editor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table commit_comments add constraint commit_comments_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table commit_comments add constraint commit_comments_pkey PRIMARY KEY (id);
CREATE INDEX commit_comments_author_id ON commit_comments USING btree (author_id, id);
CREATE INDEX commit_comments_commit ON commit_comments USING btree (repo_id, commit_id, id);
CREATE INDEX commit_comments_editor ON commit_comments USING btree (editor_id) WHERE (editor_id IS NOT NULL);
CREATE INDEX commit_comments_repo ON commit_comments USING btree (repo_id, id);
CREATE TRIGGER touch_delete AFTER DELETE ON commit_comments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();
CREATE TRIGGER touch_update AFTER UPDATE ON commit_comments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();

create table commit_statuses (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  sha text not null,
  context text not null,
  state text not null,
  description text,
  target_url text,
  creator_id bigint,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table commit_statuses add constraint commit_statuses_state_check CHECK ((state = ANY (ARRAY['error'::text, 'failure'::text, 'pending'::text, 'success'::text])));
alter table commit_statuses add constraint commit_statuses_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table commit_statuses add constraint commit_statuses_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table commit_statuses add constraint commit_statuses_pkey PRIMARY KEY (id);
CREATE INDEX commit_statuses_commit ON commit_statuses USING btree (repo_id, sha, id DESC);
CREATE INDEX commit_statuses_creator ON commit_statuses USING btree (creator_id);
CREATE TRIGGER touch_conversations_on_insert AFTER INSERT ON commit_statuses REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations();

create table cross_references (
  id bigint generated always as identity not null,
  issue_id bigint not null,
  source_id bigint not null,
  comment_id bigint,
  actor_id bigint,
  created_at timestamp with time zone not null
);
alter table cross_references add constraint cross_references_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table cross_references add constraint cross_references_comment_id_fkey FOREIGN KEY (comment_id) REFERENCES comments(id) ON DELETE CASCADE;
alter table cross_references add constraint cross_references_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table cross_references add constraint cross_references_source_id_fkey FOREIGN KEY (source_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table cross_references add constraint cross_references_pkey PRIMARY KEY (id);
alter table cross_references add constraint cross_references_issue_id_source_id_key UNIQUE (issue_id, source_id);
CREATE INDEX cross_references_actor ON cross_references USING btree (actor_id) WHERE (actor_id IS NOT NULL);
CREATE INDEX cross_references_comment ON cross_references USING btree (comment_id) WHERE (comment_id IS NOT NULL);
CREATE INDEX cross_references_source ON cross_references USING btree (source_id);

create table deleted_repositories (
  repo_id bigint not null,
  private boolean not null
);
alter table deleted_repositories add constraint deleted_repositories_pkey PRIMARY KEY (repo_id);

create table deliveries (
  id bigint not null,
  hook_id bigint not null,
  payload_id bigint not null,
  repo_id bigint,
  guid uuid not null,
  event text not null,
  action text,
  redelivery boolean not null,
  delivered_at timestamp with time zone not null,
  duration double precision not null,
  status text not null,
  status_code integer not null,
  throttled_at timestamp with time zone,
  url text not null,
  request_headers json not null,
  response_headers json,
  response_body text
) partition by RANGE (id);
alter table deliveries add constraint deliveries_pkey PRIMARY KEY (id);
CREATE INDEX deliveries_failed ON ONLY deliveries USING btree (hook_id, id) WHERE (status_code >= 400);
CREATE INDEX deliveries_hook ON ONLY deliveries USING btree (hook_id, id);

create table deployment_statuses (
  id bigint generated always as identity not null,
  deployment_id bigint not null,
  state text not null,
  description text not null,
  environment text not null,
  environment_url text not null,
  log_url text not null,
  creator_id bigint,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table deployment_statuses add constraint deployment_statuses_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table deployment_statuses add constraint deployment_statuses_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE;
alter table deployment_statuses add constraint deployment_statuses_pkey PRIMARY KEY (id);
CREATE INDEX deployment_statuses_creator ON deployment_statuses USING btree (creator_id);
CREATE INDEX deployment_statuses_deployment ON deployment_statuses USING btree (deployment_id, id DESC);

create table deployments (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  sha text not null,
  ref text not null,
  task text not null,
  environment text not null,
  original_environment text not null,
  payload jsonb not null,
  description text,
  transient_environment boolean not null,
  production_environment boolean not null,
  state text,
  creator_id bigint,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table deployments add constraint deployments_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table deployments add constraint deployments_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table deployments add constraint deployments_pkey PRIMARY KEY (id);
CREATE INDEX deployments_creator ON deployments USING btree (creator_id);
CREATE INDEX deployments_environment ON deployments USING btree (repo_id, environment, id DESC);
CREATE INDEX deployments_repository ON deployments USING btree (repo_id, id DESC);

create table device_codes (
  digest bytea not null,
  user_code text not null,
  application_id bigint not null,
  scopes text[],
  interval_seconds integer default 5 not null,
  polled_at timestamp with time zone,
  user_id bigint,
  allowed boolean,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
);
alter table device_codes add constraint device_codes_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE;
alter table device_codes add constraint device_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table device_codes add constraint device_codes_pkey PRIMARY KEY (digest);
alter table device_codes add constraint device_codes_user_code_key UNIQUE (user_code);
CREATE INDEX device_codes_expiry ON device_codes USING btree (expires_at);

create table emails (
  user_id bigint not null,
  email text not null,
  claimed_at timestamp with time zone not null
);
alter table emails add constraint emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
CREATE INDEX emails_claims ON emails USING btree (lower(email), claimed_at, user_id);
CREATE UNIQUE INDEX emails_of_user ON emails USING btree (user_id, lower(email));

create table environments (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  name text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table environments add constraint environments_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table environments add constraint environments_pkey PRIMARY KEY (id);
alter table environments add constraint environments_repo_id_name_key UNIQUE (repo_id, name);

create table events (
  id bigint generated always as identity not null,
  "position" bigint not null,
  type text not null,
  actor_id bigint not null,
  repo_id bigint not null,
  public boolean not null,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  facts jsonb
) partition by RANGE (created_at);
alter table events add constraint events_pkey PRIMARY KEY (created_at, id);
CREATE INDEX events_actor ON ONLY events USING btree (actor_id, created_at, id);
CREATE INDEX events_id ON ONLY events USING brin (id) WITH (pages_per_range='16');
CREATE INDEX events_position ON ONLY events USING btree ("position", id);
CREATE INDEX events_public ON ONLY events USING btree (created_at, id) WHERE public;
CREATE INDEX events_repo ON ONLY events USING btree (repo_id, created_at, id);
CREATE TRIGGER touch_delete AFTER DELETE ON events REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_events();
CREATE TRIGGER touch_insert AFTER INSERT ON events REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_events();
CREATE TRIGGER touch_update AFTER UPDATE ON events REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_events();

create table feed_keys (
  id bigint generated always as identity not null,
  user_id bigint not null,
  name text not null,
  digest bytea not null,
  last_eight text not null,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone not null
);
alter table feed_keys add constraint feed_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table feed_keys add constraint feed_keys_pkey PRIMARY KEY (id);
alter table feed_keys add constraint feed_keys_digest_key UNIQUE (digest);
CREATE INDEX feed_keys_user ON feed_keys USING btree (user_id);

create table follows (
  follower_id bigint not null,
  followed_id bigint not null,
  created_at timestamp with time zone not null
);
alter table follows add constraint follows_check CHECK ((follower_id <> followed_id));
alter table follows add constraint follows_followed_id_fkey FOREIGN KEY (followed_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table follows add constraint follows_follower_id_fkey FOREIGN KEY (follower_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table follows add constraint follows_pkey PRIMARY KEY (follower_id, followed_id);
CREATE INDEX follows_followed ON follows USING btree (followed_id, created_at);
CREATE TRIGGER touch_delete AFTER DELETE ON follows REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_follows();
CREATE TRIGGER touch_insert AFTER INSERT ON follows REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_follows();

create table former_logins (
  login text not null,
  account_id bigint not null
);
alter table former_logins add constraint former_logins_login_check CHECK ((login = lower(login)));
alter table former_logins add constraint former_logins_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table former_logins add constraint former_logins_pkey PRIMARY KEY (login);
CREATE INDEX former_logins_account ON former_logins USING btree (account_id);

create table grants (
  id bigint generated always as identity not null,
  application_id bigint not null,
  user_id bigint not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table grants add constraint grants_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE;
alter table grants add constraint grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table grants add constraint grants_pkey PRIMARY KEY (id);
alter table grants add constraint grants_application_id_user_id_key UNIQUE (application_id, user_id);
CREATE INDEX grants_user ON grants USING btree (user_id);

create table hooks (
  id bigint generated always as identity not null,
  repo_id bigint,
  org_id bigint,
  target_id bigint not null,
  target_type text not null,
  creator_id bigint,
  active boolean not null,
  events text[] not null,
  url text not null,
  content_type text not null,
  insecure_ssl boolean not null,
  secret bytea,
  former_secret bytea,
  former_secret_until timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  last_code integer,
  last_status text,
  last_message text,
  last_delivered_at timestamp with time zone,
  failures integer default 0 not null,
  throttled_until timestamp with time zone,
  paused_reason text,
  paused_at timestamp with time zone,
  app_id bigint
) with (fillfactor=70);
alter table hooks add constraint hooks_content_type_check CHECK ((content_type = ANY (ARRAY['json'::text, 'form'::text])));
alter table hooks add constraint hooks_paused_reason_check CHECK ((paused_reason = ANY (ARRAY['maker_lost_access'::text, 'maker_suspended'::text, 'maker_deleted'::text, 'restored'::text])));
alter table hooks add constraint hooks_target_type_check CHECK ((target_type = ANY (ARRAY['repository'::text, 'organization'::text, 'integration'::text])));
alter table hooks add constraint hooks_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE SET NULL;
alter table hooks add constraint hooks_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table hooks add constraint hooks_org_id_fkey FOREIGN KEY (org_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table hooks add constraint hooks_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE SET NULL;
alter table hooks add constraint hooks_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX hooks_app ON hooks USING btree (app_id) WHERE (app_id IS NOT NULL);
CREATE INDEX hooks_creator ON hooks USING btree (creator_id);
CREATE INDEX hooks_deleted ON hooks USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX hooks_org ON hooks USING btree (org_id);
CREATE INDEX hooks_repo ON hooks USING btree (repo_id);
CREATE TRIGGER drop_deliveries AFTER UPDATE ON hooks FOR EACH ROW WHEN ((old.active AND (NOT new.active))) EXECUTE FUNCTION drop_deliveries_of_hook();
CREATE TRIGGER pause_hook_of_nobody BEFORE UPDATE OF creator_id ON hooks FOR EACH ROW WHEN (((old.creator_id IS NOT NULL) AND (new.creator_id IS NULL))) EXECUTE FUNCTION pause_hook_of_nobody();
CREATE TRIGGER touch_delete AFTER DELETE ON hooks REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_update AFTER UPDATE ON hooks REFERENCING OLD TABLE AS former NEW TABLE AS latest FOR EACH STATEMENT EXECUTE FUNCTION touch_hooks();

create table import_authors (
  id bigint generated always as identity not null,
  import_id bigint not null,
  remote_id text not null,
  remote_name text not null,
  original_name text not null,
  original_email text not null,
  name text not null,
  email text not null
);
alter table import_authors add constraint import_authors_import_id_fkey FOREIGN KEY (import_id) REFERENCES imports(id) ON DELETE CASCADE;
alter table import_authors add constraint import_authors_pkey PRIMARY KEY (id);
alter table import_authors add constraint import_authors_import_id_remote_id_key UNIQUE (import_id, remote_id);
CREATE INDEX import_authors_list ON import_authors USING btree (import_id, id);

create table import_large_files (
  import_id bigint not null,
  place integer not null,
  ref_name text not null,
  path text not null,
  oid text not null,
  size bigint not null
);
alter table import_large_files add constraint import_large_files_import_id_fkey FOREIGN KEY (import_id) REFERENCES imports(id) ON DELETE CASCADE;
alter table import_large_files add constraint import_large_files_pkey PRIMARY KEY (import_id, place);

create table import_stages (
  import_id bigint not null,
  run integer not null,
  origin text not null,
  oid text not null,
  size bigint not null,
  stored_at timestamp with time zone not null
);
alter table import_stages add constraint import_stages_import_id_fkey FOREIGN KEY (import_id) REFERENCES imports(id) ON DELETE CASCADE;
alter table import_stages add constraint import_stages_pkey PRIMARY KEY (import_id);
CREATE INDEX import_stages_contents ON import_stages USING btree (oid);

create table imports (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  requester_id bigint,
  vcs text,
  vcs_url text not null,
  svn_root text,
  tfvc_project text,
  credentials bytea,
  use_lfs text not null,
  verify_all boolean default false not null,
  status text not null,
  run integer default 1 not null,
  active boolean not null,
  commit_count integer,
  percent integer,
  push_percent integer,
  failed_step text,
  message text,
  project_choices jsonb,
  large_files_count integer default 0 not null,
  large_files_size bigint default 0 not null,
  authors_count integer default 0 not null,
  report jsonb,
  published jsonb,
  moving jsonb,
  correcting boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone,
  finished_at timestamp with time zone,
  svn_ignore boolean default false not null,
  step_at timestamp with time zone not null,
  svn_layout jsonb,
  keep_deleted boolean default false not null,
  left_out jsonb,
  worked double precision,
  gitattributes boolean default false not null
);
alter table imports add constraint imports_percent_check CHECK (((percent >= 0) AND (percent <= 100)));
alter table imports add constraint imports_push_percent_check CHECK (((push_percent >= 0) AND (push_percent <= 100)));
alter table imports add constraint imports_status_check CHECK ((status = ANY (ARRAY['detecting'::text, 'importing'::text, 'mapping'::text, 'pushing'::text, 'complete'::text, 'auth_failed'::text, 'error'::text, 'detection_needs_auth'::text, 'detection_found_nothing'::text, 'detection_found_multiple'::text])));
alter table imports add constraint imports_use_lfs_check CHECK ((use_lfs = ANY (ARRAY['undecided'::text, 'opt_in'::text, 'opt_out'::text])));
alter table imports add constraint imports_vcs_check CHECK ((vcs = ANY (ARRAY['git'::text, 'subversion'::text, 'mercurial'::text, 'tfvc'::text])));
alter table imports add constraint imports_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table imports add constraint imports_requester_id_fkey FOREIGN KEY (requester_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table imports add constraint imports_pkey PRIMARY KEY (id);
alter table imports add constraint imports_repo_id_key UNIQUE (repo_id);
CREATE INDEX imports_active ON imports USING btree (id) WHERE active;
CREATE INDEX imports_requester ON imports USING btree (requester_id);

create table inbox_filters (
  id bigint generated always as identity not null,
  user_id bigint not null,
  name text not null,
  view text not null,
  query text not null
);
alter table inbox_filters add constraint inbox_filters_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table inbox_filters add constraint inbox_filters_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX inbox_filters_name ON inbox_filters USING btree (user_id, lower(name));

create table installation_repositories (
  installation_id bigint not null,
  repo_id bigint not null
);
alter table installation_repositories add constraint installation_repositories_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES installations(id) ON DELETE CASCADE;
alter table installation_repositories add constraint installation_repositories_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table installation_repositories add constraint installation_repositories_pkey PRIMARY KEY (installation_id, repo_id);
CREATE INDEX installation_repositories_repo ON installation_repositories USING btree (repo_id);
CREATE TRIGGER touch_delete AFTER DELETE ON installation_repositories REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_insert AFTER INSERT ON installation_repositories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();

create table installation_requests (
  id bigint generated always as identity not null,
  app_id bigint not null,
  account_id bigint not null,
  requester_id bigint not null,
  created_at timestamp with time zone not null
);
alter table installation_requests add constraint installation_requests_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table installation_requests add constraint installation_requests_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table installation_requests add constraint installation_requests_requester_id_fkey FOREIGN KEY (requester_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table installation_requests add constraint installation_requests_pkey PRIMARY KEY (id);
alter table installation_requests add constraint installation_requests_app_id_account_id_requester_id_key UNIQUE (app_id, account_id, requester_id);
CREATE INDEX installation_requests_account ON installation_requests USING btree (account_id);
CREATE INDEX installation_requests_requester ON installation_requests USING btree (requester_id);

create table installations (
  id bigint generated always as identity not null,
  app_id bigint not null,
  account_id bigint not null,
  all_repositories boolean not null,
  permissions jsonb not null,
  events text[] not null,
  suspended_at timestamp with time zone,
  suspended_by bigint,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  suspended_by_app boolean default false not null,
  suspended_by_account boolean default false not null
);
alter table installations add constraint installations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table installations add constraint installations_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table installations add constraint installations_suspended_by_fkey FOREIGN KEY (suspended_by) REFERENCES accounts(id) ON DELETE SET NULL;
alter table installations add constraint installations_pkey PRIMARY KEY (id);
alter table installations add constraint installations_app_id_account_id_key UNIQUE (app_id, account_id);
CREATE INDEX installations_account ON installations USING btree (account_id);
CREATE INDEX installations_suspended_by ON installations USING btree (suspended_by) WHERE (suspended_by IS NOT NULL);
CREATE TRIGGER touch_delete AFTER DELETE ON installations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_insert AFTER INSERT ON installations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_update AFTER UPDATE ON installations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();

create table invitations (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  invitee_id bigint not null,
  inviter_id bigint not null,
  access smallint not null,
  created_at timestamp with time zone not null
);
alter table invitations add constraint invitations_access_check CHECK (((access >= 1) AND (access <= 5)));
alter table invitations add constraint invitations_invitee_id_fkey FOREIGN KEY (invitee_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_inviter_id_fkey FOREIGN KEY (inviter_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_pkey PRIMARY KEY (id);
alter table invitations add constraint invitations_repo_id_invitee_id_key UNIQUE (repo_id, invitee_id);
CREATE INDEX invitations_invitee ON invitations USING btree (invitee_id);
CREATE TRIGGER forget_invitation_subjects AFTER DELETE ON invitations REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_invitation_subjects();
CREATE TRIGGER touch_delete AFTER DELETE ON invitations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_invitations();
CREATE TRIGGER touch_insert AFTER INSERT ON invitations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_invitations();
CREATE TRIGGER touch_update AFTER UPDATE ON invitations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_invitations();

create table issue_assignees (
  issue_id bigint not null,
  user_id bigint not null,
  assigned_at timestamp with time zone not null
);
alter table issue_assignees add constraint issue_assignees_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_assignees add constraint issue_assignees_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table issue_assignees add constraint issue_assignees_pkey PRIMARY KEY (issue_id, user_id);
CREATE INDEX issue_assignees_user ON issue_assignees USING btree (user_id, issue_id);

create table issue_documents (
  issue_id bigint not null,
  repo_id bigint not null,
  document tsvector not null
);
alter table issue_documents add constraint issue_documents_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_documents add constraint issue_documents_pkey PRIMARY KEY (issue_id);
CREATE INDEX issue_documents_words ON issue_documents USING gin (document);

create table issue_events (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  issue_id bigint not null,
  actor_id bigint,
  event text not null,
  assignee_id bigint,
  label_name text,
  label_color text,
  milestone_title text,
  renamed_from text,
  renamed_to text,
  requested_reviewer_id bigint,
  requested_team_id bigint,
  state_reason text,
  lock_reason text,
  commit_id text,
  created_at timestamp with time zone not null
);
alter table issue_events add constraint issue_events_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table issue_events add constraint issue_events_assignee_id_fkey FOREIGN KEY (assignee_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table issue_events add constraint issue_events_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_events add constraint issue_events_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table issue_events add constraint issue_events_requested_reviewer_id_fkey FOREIGN KEY (requested_reviewer_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table issue_events add constraint issue_events_requested_team_id_fkey FOREIGN KEY (requested_team_id) REFERENCES teams(id) ON DELETE SET NULL;
alter table issue_events add constraint issue_events_pkey PRIMARY KEY (id);
CREATE INDEX issue_events_actor ON issue_events USING btree (actor_id) WHERE (actor_id IS NOT NULL);
CREATE INDEX issue_events_assignee ON issue_events USING btree (assignee_id) WHERE (assignee_id IS NOT NULL);
CREATE INDEX issue_events_issue ON issue_events USING btree (issue_id, id);
CREATE INDEX issue_events_repo ON issue_events USING btree (repo_id, id);
CREATE INDEX issue_events_requested_reviewer ON issue_events USING btree (requested_reviewer_id) WHERE (requested_reviewer_id IS NOT NULL);
CREATE INDEX issue_events_requested_team ON issue_events USING btree (requested_team_id) WHERE (requested_team_id IS NOT NULL);
CREATE TRIGGER touch_conversations_on_insert AFTER INSERT ON issue_events REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations();

create table issue_labels (
  issue_id bigint not null,
  label_id bigint not null
);
alter table issue_labels add constraint issue_labels_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_labels add constraint issue_labels_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table issue_labels add constraint issue_labels_pkey PRIMARY KEY (issue_id, label_id);
CREATE INDEX issue_labels_label ON issue_labels USING btree (label_id, issue_id);

create table issues (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  number integer not null,
  author_id bigint,
  title text not null,
  body text,
  state text default 'open'::text not null,
  state_reason text,
  locked boolean default false not null,
  lock_reason text,
  milestone_id bigint,
  comments_count integer default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  closed_by_id bigint,
  editor_id bigint
);
alter table issues add constraint issues_lock_reason_check CHECK ((lock_reason = ANY (ARRAY['off-topic'::text, 'too heated'::text, 'resolved'::text, 'spam'::text])));
alter table issues add constraint issues_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text])));
alter table issues add constraint issues_state_reason_check CHECK ((state_reason = ANY (ARRAY['completed'::text, 'not_planned'::text, 'duplicate'::text, 'reopened'::text])));
alter table issues add constraint issues_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table issues add constraint issues_closed_by_id_fkey FOREIGN KEY (closed_by_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table issues add constraint issues_editor_id_fkey FOREIGN KEY (editor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table issues add constraint issues_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE SET NULL;
alter table issues add constraint issues_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table issues add constraint issues_pkey PRIMARY KEY (id);
alter table issues add constraint issues_repo_id_number_key UNIQUE (repo_id, number);
CREATE INDEX issues_author ON issues USING btree (author_id, repo_id, number);
CREATE INDEX issues_closed_by ON issues USING btree (closed_by_id) WHERE (closed_by_id IS NOT NULL);
CREATE INDEX issues_comments ON issues USING btree (repo_id, comments_count, number);
CREATE INDEX issues_editor ON issues USING btree (editor_id) WHERE (editor_id IS NOT NULL);
CREATE INDEX issues_milestone ON issues USING btree (milestone_id, number) WHERE (milestone_id IS NOT NULL);
CREATE INDEX issues_open ON issues USING btree (repo_id, number) WHERE (state = 'open'::text);
CREATE INDEX issues_updated ON issues USING btree (repo_id, updated_at, number);
CREATE TRIGGER count_new_issues AFTER INSERT ON issues REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_issues();
CREATE TRIGGER count_old_issues AFTER DELETE ON issues REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_issues();
CREATE TRIGGER recount_issue AFTER UPDATE ON issues FOR EACH ROW WHEN (((old.state <> new.state) OR (old.milestone_id IS DISTINCT FROM new.milestone_id))) EXECUTE FUNCTION recount_issue();
CREATE TRIGGER rewrite_document AFTER UPDATE OF title, body ON issues FOR EACH ROW WHEN (((new.title IS DISTINCT FROM old.title) OR (new.body IS DISTINCT FROM old.body))) EXECUTE FUNCTION write_issue_document();
CREATE TRIGGER touch_delete AFTER DELETE ON issues REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();
CREATE TRIGGER touch_update AFTER UPDATE ON issues REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();
CREATE TRIGGER write_document AFTER INSERT ON issues FOR EACH ROW EXECUTE FUNCTION write_issue_document();

create table labels (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  name text not null,
  color text not null,
  description text
);
alter table labels add constraint labels_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table labels add constraint labels_pkey PRIMARY KEY (id);
CREATE INDEX labels_by_name ON labels USING btree (lower(name));
CREATE UNIQUE INDEX labels_name ON labels USING btree (repo_id, lower(name));

create table latest_pushes (
  repo_id bigint not null,
  pusher_id bigint not null,
  ref text not null,
  before text not null,
  after text not null,
  size integer not null,
  pushed_at timestamp with time zone not null
);
alter table latest_pushes add constraint latest_pushes_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table latest_pushes add constraint latest_pushes_pkey PRIMARY KEY (repo_id);

create table lfs_objects (
  repo_id bigint not null,
  oid text not null,
  size bigint not null,
  created_at timestamp with time zone not null
);
alter table lfs_objects add constraint lfs_objects_oid_check CHECK ((oid ~ '^[0-9a-f]{64}$'::text));
alter table lfs_objects add constraint lfs_objects_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table lfs_objects add constraint lfs_objects_pkey PRIMARY KEY (repo_id, oid);
CREATE INDEX lfs_objects_oid ON lfs_objects USING btree (oid);

create table list_snapshots (
  user_id bigint not null,
  snapshot pg_snapshot not null,
  read_at timestamp with time zone not null
) with (fillfactor=50);
alter table list_snapshots add constraint list_snapshots_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table list_snapshots add constraint list_snapshots_pkey PRIMARY KEY (user_id);

create table log_base (
  base bigint not null
);

create table maintenance (
  only_row boolean default true not null,
  since timestamp with time zone not null,
  message text not null,
  retry_after integer not null
);
alter table maintenance add constraint maintenance_only_row_check CHECK (only_row);
alter table maintenance add constraint maintenance_retry_after_check CHECK ((retry_after > 0));
alter table maintenance add constraint maintenance_pkey PRIMARY KEY (only_row);

create table memberships (
  org_id bigint not null,
  user_id bigint not null,
  role text not null,
  public boolean default false not null,
  created_at timestamp with time zone not null
);
alter table memberships add constraint memberships_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text])));
alter table memberships add constraint memberships_org_id_fkey FOREIGN KEY (org_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table memberships add constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table memberships add constraint memberships_pkey PRIMARY KEY (org_id, user_id);
CREATE INDEX memberships_user ON memberships USING btree (user_id);
CREATE TRIGGER pause_hooks AFTER DELETE ON memberships REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pause_hooks_of_gone_users();
CREATE TRIGGER pause_hooks_of_lowered AFTER UPDATE OF role ON memberships FOR EACH ROW WHEN ((new.role <> old.role)) EXECUTE FUNCTION pause_hooks_of_user();
CREATE TRIGGER touch_delete AFTER DELETE ON memberships REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();
CREATE TRIGGER touch_insert AFTER INSERT ON memberships REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();
CREATE TRIGGER touch_update AFTER UPDATE ON memberships REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();

create table migrations (
  name text not null,
  applied_at timestamp with time zone default now() not null
);
alter table migrations add constraint migrations_pkey PRIMARY KEY (name);

create table milestones (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  number integer not null,
  creator_id bigint,
  title text not null,
  description text,
  state text default 'open'::text not null,
  open_issues integer default 0 not null,
  closed_issues integer default 0 not null,
  due_on timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  closed_at timestamp with time zone
);
alter table milestones add constraint milestones_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text])));
alter table milestones add constraint milestones_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table milestones add constraint milestones_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table milestones add constraint milestones_pkey PRIMARY KEY (id);
alter table milestones add constraint milestones_repo_id_number_key UNIQUE (repo_id, number);
alter table milestones add constraint milestones_repo_id_title_key UNIQUE (repo_id, title);
CREATE INDEX milestones_creator ON milestones USING btree (creator_id);
CREATE TRIGGER touch_delete AFTER DELETE ON milestones REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();
CREATE TRIGGER touch_update AFTER UPDATE ON milestones REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();

create table notification_events (
  id bigint generated always as identity not null,
  subject_id bigint not null,
  actor_id bigint not null,
  act text not null,
  people bigint[] not null,
  teams bigint[] not null,
  body text,
  body_before text,
  comment_type text,
  comment_id bigint,
  created_at timestamp with time zone not null,
  notified_at timestamp with time zone,
  traceparent text default current_traceparent()
);
alter table notification_events add constraint notification_events_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES notification_subjects(id) ON DELETE CASCADE;
alter table notification_events add constraint notification_events_pkey PRIMARY KEY (id);
CREATE INDEX notification_events_notified ON notification_events USING brin (notified_at);
CREATE INDEX notification_events_pending ON notification_events USING btree (subject_id, id) WHERE (notified_at IS NULL);
CREATE INDEX notification_events_subject ON notification_events USING btree (subject_id);

create table notification_subjects (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  type text not null,
  issue_id bigint,
  release_id bigint,
  invitation_id bigint,
  commit_id text,
  title text,
  latest_type text,
  latest_id bigint,
  import_id bigint,
  transfer_id bigint,
  hook_id bigint
);
alter table notification_subjects add constraint subjects_latest_type_check CHECK ((latest_type = ANY (ARRAY['IssueComment'::text, 'PullRequestReview'::text, 'PullRequestReviewComment'::text, 'CommitComment'::text])));
alter table notification_subjects add constraint subjects_type_check CHECK ((type = ANY (ARRAY['Issue'::text, 'PullRequest'::text, 'Commit'::text, 'Release'::text, 'RepositoryInvitation'::text, 'RepositoryImport'::text, 'RepositoryTransfer'::text, 'Webhook'::text])));
alter table notification_subjects add constraint subjects_hook_id_fkey FOREIGN KEY (hook_id) REFERENCES hooks(id) ON DELETE CASCADE;
alter table notification_subjects add constraint subjects_import_id_fkey FOREIGN KEY (import_id) REFERENCES imports(id) ON DELETE CASCADE;
alter table notification_subjects add constraint subjects_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table notification_subjects add constraint subjects_release_id_fkey FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE;
alter table notification_subjects add constraint subjects_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table notification_subjects add constraint notification_subjects_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX notification_subjects_commit ON notification_subjects USING btree (repo_id, commit_id) WHERE (commit_id IS NOT NULL);
CREATE UNIQUE INDEX notification_subjects_hook ON notification_subjects USING btree (hook_id) WHERE (hook_id IS NOT NULL);
CREATE UNIQUE INDEX notification_subjects_import ON notification_subjects USING btree (import_id) WHERE (import_id IS NOT NULL);
CREATE UNIQUE INDEX notification_subjects_invitation ON notification_subjects USING btree (invitation_id) WHERE (invitation_id IS NOT NULL);
CREATE UNIQUE INDEX notification_subjects_issue ON notification_subjects USING btree (issue_id) WHERE (issue_id IS NOT NULL);
CREATE UNIQUE INDEX notification_subjects_release ON notification_subjects USING btree (release_id) WHERE (release_id IS NOT NULL);
CREATE INDEX notification_subjects_repo ON notification_subjects USING btree (repo_id);
CREATE UNIQUE INDEX notification_subjects_transfer ON notification_subjects USING btree (transfer_id) WHERE (transfer_id IS NOT NULL);
CREATE TRIGGER forget_threads_of_subject AFTER DELETE ON notification_subjects REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_threads('subject_ids');
CREATE TRIGGER touch_insert AFTER INSERT ON notification_subjects REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();
CREATE TRIGGER touch_update AFTER UPDATE ON notification_subjects REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();

create table organization_invitation_teams (
  invitation_id bigint not null,
  team_id bigint not null
);
alter table organization_invitation_teams add constraint organization_invitation_teams_invitation_id_fkey FOREIGN KEY (invitation_id) REFERENCES organization_invitations(id) ON DELETE CASCADE;
alter table organization_invitation_teams add constraint organization_invitation_teams_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE;
alter table organization_invitation_teams add constraint organization_invitation_teams_pkey PRIMARY KEY (invitation_id, team_id);
CREATE INDEX organization_invitation_teams_team ON organization_invitation_teams USING btree (team_id);

create table organization_invitations (
  id bigint generated always as identity not null,
  org_id bigint not null,
  invitee_id bigint,
  email text,
  role text not null,
  inviter_id bigint not null,
  created_at timestamp with time zone not null
);
alter table organization_invitations add constraint organization_invitations_check CHECK ((num_nonnulls(invitee_id, email) = 1));
alter table organization_invitations add constraint organization_invitations_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text])));
alter table organization_invitations add constraint organization_invitations_invitee_id_fkey FOREIGN KEY (invitee_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table organization_invitations add constraint organization_invitations_inviter_id_fkey FOREIGN KEY (inviter_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table organization_invitations add constraint organization_invitations_org_id_fkey FOREIGN KEY (org_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table organization_invitations add constraint organization_invitations_pkey PRIMARY KEY (id);
CREATE INDEX organization_invitations_address ON organization_invitations USING btree (lower(email)) WHERE (email IS NOT NULL);
CREATE UNIQUE INDEX organization_invitations_email ON organization_invitations USING btree (org_id, lower(email)) WHERE (email IS NOT NULL);
CREATE UNIQUE INDEX organization_invitations_invitee ON organization_invitations USING btree (org_id, invitee_id) WHERE (invitee_id IS NOT NULL);
CREATE INDEX organization_invitations_inviter ON organization_invitations USING btree (inviter_id);
CREATE INDEX organization_invitations_user ON organization_invitations USING btree (invitee_id) WHERE (invitee_id IS NOT NULL);

create table page_states (
  id bigint generated always as identity not null,
  digest bytea not null,
  user_id bigint not null,
  content bytea not null,
  expires_at timestamp with time zone not null
);
alter table page_states add constraint page_states_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table page_states add constraint page_states_pkey PRIMARY KEY (id);
alter table page_states add constraint page_states_digest_key UNIQUE (digest);
CREATE INDEX page_states_expiry ON page_states USING btree (expires_at);
CREATE INDEX page_states_user ON page_states USING btree (user_id, id);

create table payloads (
  id bigint not null,
  repo_id bigint,
  event text not null,
  action text,
  body text,
  created_at timestamp with time zone not null,
  installation_id bigint
) partition by RANGE (id);
alter table payloads add constraint payloads_pkey PRIMARY KEY (id);
CREATE INDEX payloads_repo ON ONLY payloads USING btree (repo_id, id);

create table pending_deliveries (
  id bigint not null,
  hook_id bigint not null,
  payload_id bigint not null,
  repo_id bigint,
  guid uuid not null,
  event text not null,
  action text,
  redelivery boolean not null,
  attempts integer default 0 not null,
  created_at timestamp with time zone not null,
  ready_at timestamp with time zone not null,
  throttled_at timestamp with time zone,
  sender bigint,
  traceparent text default current_traceparent(),
  requested boolean default false not null
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_insert_scale_factor=0);
alter table pending_deliveries add constraint pending_deliveries_pkey PRIMARY KEY (id);
CREATE INDEX pending_deliveries_hook ON pending_deliveries USING btree (hook_id, id);
CREATE INDEX pending_deliveries_ready ON pending_deliveries USING btree (ready_at, id) WHERE (sender IS NULL);

create table protection_actors (
  protection_id bigint not null,
  list text not null,
  user_id bigint,
  team_id bigint,
  app_id bigint
);
alter table protection_actors add constraint protection_actors_check CHECK ((num_nonnulls(user_id, team_id, app_id) = 1));
alter table protection_actors add constraint protection_actors_list_check CHECK ((list = ANY (ARRAY['restrictions'::text, 'dismissal_restrictions'::text, 'bypass_pull_request_allowances'::text])));
alter table protection_actors add constraint protection_actors_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table protection_actors add constraint protection_actors_protection_id_fkey FOREIGN KEY (protection_id) REFERENCES branch_protections(id) ON DELETE CASCADE;
alter table protection_actors add constraint protection_actors_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE;
alter table protection_actors add constraint protection_actors_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table protection_actors add constraint protection_actors_key UNIQUE NULLS NOT DISTINCT (protection_id, list, user_id, team_id, app_id);
CREATE INDEX protection_actors_app ON protection_actors USING btree (app_id) WHERE (app_id IS NOT NULL);
CREATE INDEX protection_actors_team ON protection_actors USING btree (team_id);
CREATE INDEX protection_actors_user ON protection_actors USING btree (user_id);

create table pulls (
  id bigint generated always as identity not null,
  issue_id bigint not null,
  repo_id bigint not null,
  head_repo_id bigint,
  head_owner_id bigint,
  head_ref text not null,
  head_sha text not null,
  base_ref text not null,
  base_sha text not null,
  draft boolean default false not null,
  maintainer_can_modify boolean default false not null,
  merged_at timestamp with time zone,
  merged_by_id bigint,
  merge_commit_sha text,
  mergeable_state text,
  mergeable_head text,
  mergeable_base text,
  commits integer default 0 not null,
  additions integer default 0 not null,
  deletions integer default 0 not null,
  changed_files integer default 0 not null
);
alter table pulls add constraint pulls_mergeable_state_check CHECK ((mergeable_state = ANY (ARRAY['clean'::text, 'dirty'::text, 'nothing'::text, 'unknown'::text])));
alter table pulls add constraint pulls_head_owner_id_fkey FOREIGN KEY (head_owner_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table pulls add constraint pulls_head_repo_id_fkey FOREIGN KEY (head_repo_id) REFERENCES repositories(id) ON DELETE SET NULL;
alter table pulls add constraint pulls_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table pulls add constraint pulls_merged_by_id_fkey FOREIGN KEY (merged_by_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table pulls add constraint pulls_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table pulls add constraint pulls_pkey PRIMARY KEY (id);
alter table pulls add constraint pulls_issue_id_key UNIQUE (issue_id);
CREATE INDEX pulls_base ON pulls USING btree (repo_id, base_ref);
CREATE INDEX pulls_head ON pulls USING btree (head_repo_id, head_ref);
CREATE INDEX pulls_head_owner ON pulls USING btree (head_owner_id);
CREATE INDEX pulls_merge_commit ON pulls USING btree (merge_commit_sha) WHERE (merge_commit_sha IS NOT NULL);
CREATE INDEX pulls_merged_by ON pulls USING btree (merged_by_id) WHERE (merged_by_id IS NOT NULL);
CREATE INDEX pulls_repo ON pulls USING btree (repo_id);
CREATE TRIGGER touch_update AFTER UPDATE ON pulls REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_repository();

create table pushes (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  pusher_id bigint not null,
  commands jsonb not null,
  started_at timestamp with time zone not null,
  server text
);
alter table pushes add constraint pushes_pusher_id_fkey FOREIGN KEY (pusher_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table pushes add constraint pushes_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table pushes add constraint pushes_pkey PRIMARY KEY (id);
CREATE INDEX pushes_repo ON pushes USING btree (repo_id);

create unlogged table rate_limits (
  key text not null,
  used bigint not null,
  reset bigint not null
);
alter table rate_limits add constraint rate_limits_pkey PRIMARY KEY (key);

create table reactions (
  id bigint generated always as identity not null,
  user_id bigint not null,
  content text not null,
  issue_id bigint,
  comment_id bigint,
  review_comment_id bigint,
  commit_comment_id bigint,
  release_id bigint,
  created_at timestamp with time zone not null
);
alter table reactions add constraint reactions_check CHECK ((num_nonnulls(issue_id, comment_id, review_comment_id, commit_comment_id, release_id) = 1));
alter table reactions add constraint reactions_content_check CHECK ((content = ANY (ARRAY['+1'::text, '-1'::text, 'laugh'::text, 'confused'::text, 'heart'::text, 'hooray'::text, 'rocket'::text, 'eyes'::text])));
alter table reactions add constraint reactions_comment_id_fkey FOREIGN KEY (comment_id) REFERENCES comments(id) ON DELETE CASCADE;
alter table reactions add constraint reactions_commit_comment_id_fkey FOREIGN KEY (commit_comment_id) REFERENCES commit_comments(id) ON DELETE CASCADE;
alter table reactions add constraint reactions_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table reactions add constraint reactions_release_id_fkey FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE;
alter table reactions add constraint reactions_review_comment_id_fkey FOREIGN KEY (review_comment_id) REFERENCES review_comments(id) ON DELETE CASCADE;
alter table reactions add constraint reactions_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table reactions add constraint reactions_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX reactions_comment ON reactions USING btree (comment_id, user_id, content) WHERE (comment_id IS NOT NULL);
CREATE UNIQUE INDEX reactions_commit_comment ON reactions USING btree (commit_comment_id, user_id, content) WHERE (commit_comment_id IS NOT NULL);
CREATE UNIQUE INDEX reactions_issue ON reactions USING btree (issue_id, user_id, content) WHERE (issue_id IS NOT NULL);
CREATE UNIQUE INDEX reactions_release ON reactions USING btree (release_id, user_id, content) WHERE (release_id IS NOT NULL);
CREATE UNIQUE INDEX reactions_review_comment ON reactions USING btree (review_comment_id, user_id, content) WHERE (review_comment_id IS NOT NULL);
CREATE INDEX reactions_user ON reactions USING btree (user_id);
CREATE TRIGGER touch_conversations_on_delete AFTER DELETE ON reactions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations_of_reactions();
CREATE TRIGGER touch_conversations_on_insert AFTER INSERT ON reactions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations_of_reactions();

create table recovery_codes (
  user_id bigint not null,
  digest bytea not null
);
alter table recovery_codes add constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table recovery_codes add constraint recovery_codes_pkey PRIMARY KEY (user_id, digest);

create table ref_repairs (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  ref text not null,
  recorded_sha text,
  disk_sha text,
  outcome text not null,
  found_at timestamp with time zone not null
);
alter table ref_repairs add constraint ref_repairs_outcome_check CHECK ((outcome = ANY (ARRAY['restored'::text, 'adopted'::text, 'lost'::text])));
alter table ref_repairs add constraint ref_repairs_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table ref_repairs add constraint ref_repairs_pkey PRIMARY KEY (id);
CREATE INDEX ref_repairs_found ON ref_repairs USING btree (found_at);
CREATE INDEX ref_repairs_repo ON ref_repairs USING btree (repo_id);

create table refresh_tokens (
  digest bytea not null,
  application_id bigint not null,
  user_id bigint not null,
  token_id bigint,
  expires_at timestamp with time zone not null,
  code_digest bytea
);
alter table refresh_tokens add constraint refresh_tokens_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE;
alter table refresh_tokens add constraint refresh_tokens_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id) ON DELETE SET NULL;
alter table refresh_tokens add constraint refresh_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table refresh_tokens add constraint refresh_tokens_pkey PRIMARY KEY (digest);
CREATE INDEX refresh_tokens_code ON refresh_tokens USING btree (code_digest) WHERE (code_digest IS NOT NULL);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens USING btree (expires_at);
CREATE INDEX refresh_tokens_grant ON refresh_tokens USING btree (application_id, user_id);
CREATE INDEX refresh_tokens_token ON refresh_tokens USING btree (token_id) WHERE (token_id IS NOT NULL);
CREATE INDEX refresh_tokens_user ON refresh_tokens USING btree (user_id);

create table refs (
  repo_id bigint not null,
  name text not null,
  sha text not null
);
alter table refs add constraint refs_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table refs add constraint refs_pkey PRIMARY KEY (repo_id, name);

create table release_assets (
  id bigint generated always as identity not null,
  release_id bigint not null,
  name text not null,
  label text,
  content_type text not null,
  oid text not null,
  size bigint not null,
  uploader_id bigint,
  downloads_count bigint default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);
alter table release_assets add constraint release_assets_release_id_fkey FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE;
alter table release_assets add constraint release_assets_uploader_id_fkey FOREIGN KEY (uploader_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table release_assets add constraint release_assets_pkey PRIMARY KEY (id);
alter table release_assets add constraint release_assets_release_id_name_key UNIQUE (release_id, name);
CREATE INDEX release_assets_contents ON release_assets USING btree (oid);
CREATE INDEX release_assets_uploader ON release_assets USING btree (uploader_id);

create table releases (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  author_id bigint,
  tag_name text not null,
  target_commitish text not null,
  name text,
  body text,
  draft boolean not null,
  prerelease boolean not null,
  created_at timestamp with time zone not null,
  published_at timestamp with time zone
);
alter table releases add constraint releases_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table releases add constraint releases_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table releases add constraint releases_pkey PRIMARY KEY (id);
CREATE INDEX releases_author ON releases USING btree (author_id);
CREATE INDEX releases_repo ON releases USING btree (repo_id, created_at, id);
CREATE UNIQUE INDEX releases_tag ON releases USING btree (repo_id, tag_name) WHERE (NOT draft);
CREATE TRIGGER touch_delete AFTER DELETE ON releases REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_update AFTER UPDATE ON releases REFERENCING OLD TABLE AS former NEW TABLE AS latest FOR EACH STATEMENT EXECUTE FUNCTION touch_releases();

create table replaced_repositories (
  repo_id bigint not null
);
alter table replaced_repositories add constraint replaced_repositories_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table replaced_repositories add constraint replaced_repositories_pkey PRIMARY KEY (repo_id);

create table replays (
  id bigint generated always as identity not null,
  hook_id bigint not null,
  requester_id bigint,
  since timestamp with time zone not null,
  until timestamp with time zone not null,
  events text[] not null,
  status text not null,
  total integer,
  told integer default 0 not null,
  passed_over integer default 0 not null,
  place_at timestamp with time zone not null,
  place bigint default 0 not null,
  paced_until timestamp with time zone not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone
);
alter table replays add constraint replays_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'cancelled'::text])));
alter table replays add constraint replays_hook_id_fkey FOREIGN KEY (hook_id) REFERENCES hooks(id) ON DELETE CASCADE;
alter table replays add constraint replays_requester_id_fkey FOREIGN KEY (requester_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table replays add constraint replays_pkey PRIMARY KEY (id);
CREATE INDEX replays_finished ON replays USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX replays_hook ON replays USING btree (hook_id, id);
CREATE UNIQUE INDEX replays_open ON replays USING btree (hook_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX replays_requester ON replays USING btree (requester_id);

create table repositories (
  id bigint generated by default as identity not null,
  owner_id bigint not null,
  name text not null,
  description text,
  homepage text,
  private boolean not null,
  network_id bigint not null,
  parent_id bigint,
  default_branch text default 'main'::text not null,
  archived boolean default false not null,
  is_template boolean default false not null,
  has_issues boolean default true not null,
  has_projects boolean default true not null,
  has_wiki boolean default true not null,
  allow_rebase_merge boolean default true not null,
  allow_squash_merge boolean default true not null,
  allow_merge_commit boolean default true not null,
  topics text[] default '{}'::text[] not null,
  size integer default 0 not null,
  public_forks_count integer default 0 not null,
  stargazers_count integer default 0 not null,
  subscribers_count integer default 0 not null,
  open_issues_count integer default 0 not null,
  pushed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_issue_number integer default 0 not null,
  last_milestone_number integer default 0 not null,
  automation boolean default false not null,
  language text,
  license text,
  template_id bigint,
  forked_from_private boolean default false not null,
  allow_forking boolean default true not null
);
alter table repositories add constraint repositories_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table repositories add constraint repositories_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES repositories(id) ON DELETE SET NULL;
alter table repositories add constraint repositories_template_id_fkey FOREIGN KEY (template_id) REFERENCES repositories(id) ON DELETE SET NULL;
alter table repositories add constraint repositories_pkey PRIMARY KEY (id);
CREATE INDEX repositories_forked_from_private ON repositories USING btree (owner_id) WHERE forked_from_private;
CREATE INDEX repositories_language ON repositories USING btree (lower(language)) WHERE (language IS NOT NULL);
CREATE INDEX repositories_license ON repositories USING btree (license) WHERE (license IS NOT NULL);
CREATE UNIQUE INDEX repositories_name ON repositories USING btree (owner_id, lower(name));
CREATE INDEX repositories_network ON repositories USING btree (network_id);
CREATE INDEX repositories_parent ON repositories USING btree (parent_id, created_at) WHERE (parent_id IS NOT NULL);
CREATE INDEX repositories_private_forks ON repositories USING btree (parent_id) WHERE (private AND (parent_id IS NOT NULL));
CREATE INDEX repositories_pushed ON repositories USING btree (pushed_at DESC NULLS LAST, id DESC) WHERE (NOT private);
CREATE INDEX repositories_stars ON repositories USING btree (stargazers_count DESC, id DESC) WHERE (NOT private);
CREATE INDEX repositories_template ON repositories USING btree (template_id) WHERE (template_id IS NOT NULL);
CREATE INDEX repositories_topics ON repositories USING gin (topics) WHERE (topics <> '{}'::text[]);
CREATE TRIGGER pause_hooks AFTER UPDATE OF owner_id ON repositories FOR EACH ROW WHEN ((new.owner_id <> old.owner_id)) EXECUTE FUNCTION pause_hooks_of_repository();
CREATE TRIGGER rewrite_document AFTER UPDATE OF name, description, topics ON repositories FOR EACH ROW WHEN ((((new.name IS DISTINCT FROM old.name) OR (new.description IS DISTINCT FROM old.description)) OR (new.topics IS DISTINCT FROM old.topics))) EXECUTE FUNCTION write_repository_document();
CREATE TRIGGER touch_delete AFTER DELETE ON repositories REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_insert AFTER INSERT ON repositories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_new_repositories();
CREATE TRIGGER touch_update AFTER UPDATE ON repositories REFERENCING OLD TABLE AS former NEW TABLE AS latest FOR EACH STATEMENT EXECUTE FUNCTION touch_repositories();
CREATE TRIGGER write_document AFTER INSERT ON repositories FOR EACH ROW EXECUTE FUNCTION write_repository_document();

create table repository_documents (
  repo_id bigint not null,
  document tsvector not null
);
alter table repository_documents add constraint repository_documents_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table repository_documents add constraint repository_documents_pkey PRIMARY KEY (repo_id);
CREATE INDEX repository_documents_words ON repository_documents USING gin (document);

create table repository_redirects (
  owner_id bigint not null,
  name text not null,
  repo_id bigint not null
);
alter table repository_redirects add constraint repository_redirects_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table repository_redirects add constraint repository_redirects_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table repository_redirects add constraint repository_redirects_pkey PRIMARY KEY (owner_id, name);
CREATE INDEX repository_redirects_repo ON repository_redirects USING btree (repo_id);

create table request_reports (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  request_id text not null,
  method text not null,
  path text not null,
  status integer not null,
  milliseconds double precision not null
);
alter table request_reports add constraint request_reports_pkey PRIMARY KEY (id);

create table required_checks (
  protection_id bigint not null,
  context text not null,
  app_id bigint
);
alter table required_checks add constraint required_checks_protection_id_fkey FOREIGN KEY (protection_id) REFERENCES branch_protections(id) ON DELETE CASCADE;
alter table required_checks add constraint required_checks_pkey PRIMARY KEY (protection_id, context);

create table resolved_threads (
  thread_id bigint not null,
  repo_id bigint not null,
  pull_id bigint not null,
  resolver_id bigint,
  resolved_at timestamp with time zone not null
);
alter table resolved_threads add constraint resolved_threads_pull_id_fkey FOREIGN KEY (pull_id) REFERENCES pulls(id) ON DELETE CASCADE;
alter table resolved_threads add constraint resolved_threads_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table resolved_threads add constraint resolved_threads_resolver_id_fkey FOREIGN KEY (resolver_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table resolved_threads add constraint resolved_threads_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES review_comments(id) ON DELETE CASCADE;
alter table resolved_threads add constraint resolved_threads_pkey PRIMARY KEY (thread_id);
CREATE INDEX resolved_threads_pull ON resolved_threads USING btree (pull_id);
CREATE INDEX resolved_threads_repo ON resolved_threads USING btree (repo_id);
CREATE INDEX resolved_threads_resolver ON resolved_threads USING btree (resolver_id);
CREATE TRIGGER touch_conversations_on_delete AFTER DELETE ON resolved_threads REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations();
CREATE TRIGGER touch_conversations_on_insert AFTER INSERT ON resolved_threads REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_conversations();

create table response_validators (
  key text not null,
  etag text not null,
  changed_at timestamp with time zone not null,
  last_modified timestamp with time zone not null,
  first_at timestamp with time zone not null
);
alter table response_validators add constraint response_validators_pkey PRIMARY KEY (key);
CREATE INDEX response_validators_changed ON response_validators USING btree (changed_at);

create table review_comments (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  pull_id bigint not null,
  review_id bigint,
  in_reply_to_id bigint,
  author_id bigint,
  body text not null,
  path text not null,
  commit_id text not null,
  original_commit_id text not null,
  diff_hunk text not null,
  "position" integer,
  line integer,
  start_line integer,
  side text,
  start_side text,
  subject_type text default 'line'::text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  editor_id bigint
);
alter table review_comments add constraint review_comments_side_check CHECK ((side = ANY (ARRAY['LEFT'::text, 'RIGHT'::text])));
alter table review_comments add constraint review_comments_start_side_check CHECK ((start_side = ANY (ARRAY['LEFT'::text, 'RIGHT'::text])));
alter table review_comments add constraint review_comments_subject_type_check CHECK ((subject_type = ANY (ARRAY['line'::text, 'file'::text])));
alter table review_comments add constraint review_comments_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table review_comments add constraint review_comments_editor_id_fkey FOREIGN KEY (editor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table review_comments add constraint review_comments_in_reply_to_id_fkey FOREIGN KEY (in_reply_to_id) REFERENCES review_comments(id) ON DELETE SET NULL;
alter table review_comments add constraint review_comments_pull_id_fkey FOREIGN KEY (pull_id) REFERENCES pulls(id) ON DELETE CASCADE;
alter table review_comments add constraint review_comments_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table review_comments add constraint review_comments_review_id_fkey FOREIGN KEY (review_id) REFERENCES reviews(id) ON DELETE CASCADE;
alter table review_comments add constraint review_comments_pkey PRIMARY KEY (id);
CREATE INDEX review_comments_author_id ON review_comments USING btree (author_id, id);
CREATE INDEX review_comments_editor ON review_comments USING btree (editor_id) WHERE (editor_id IS NOT NULL);
CREATE INDEX review_comments_pull ON review_comments USING btree (pull_id, id);
CREATE INDEX review_comments_reply ON review_comments USING btree (in_reply_to_id) WHERE (in_reply_to_id IS NOT NULL);
CREATE INDEX review_comments_repo ON review_comments USING btree (repo_id, id);
CREATE INDEX review_comments_review ON review_comments USING btree (review_id, id);
CREATE INDEX review_comments_updated ON review_comments USING btree (repo_id, updated_at, id);
CREATE TRIGGER touch_delete AFTER DELETE ON review_comments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();
CREATE TRIGGER touch_update AFTER UPDATE ON review_comments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();

create table review_requests (
  pull_id bigint not null,
  user_id bigint,
  team_id bigint,
  requested_at timestamp with time zone not null
);
alter table review_requests add constraint review_requests_check CHECK ((num_nonnulls(user_id, team_id) = 1));
alter table review_requests add constraint review_requests_pull_id_fkey FOREIGN KEY (pull_id) REFERENCES pulls(id) ON DELETE CASCADE;
alter table review_requests add constraint review_requests_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE;
alter table review_requests add constraint review_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
CREATE INDEX review_requests_of_team ON review_requests USING btree (team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX review_requests_of_user ON review_requests USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE UNIQUE INDEX review_requests_team ON review_requests USING btree (pull_id, team_id) WHERE (team_id IS NOT NULL);
CREATE UNIQUE INDEX review_requests_user ON review_requests USING btree (pull_id, user_id) WHERE (user_id IS NOT NULL);

create table reviews (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  pull_id bigint not null,
  author_id bigint,
  state text not null,
  body text not null,
  commit_id text not null,
  dismissal text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  submitted_at timestamp with time zone,
  editor_id bigint
);
alter table reviews add constraint reviews_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'APPROVED'::text, 'CHANGES_REQUESTED'::text, 'COMMENTED'::text, 'DISMISSED'::text])));
alter table reviews add constraint reviews_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table reviews add constraint reviews_editor_id_fkey FOREIGN KEY (editor_id) REFERENCES accounts(id) ON DELETE SET NULL;
alter table reviews add constraint reviews_pull_id_fkey FOREIGN KEY (pull_id) REFERENCES pulls(id) ON DELETE CASCADE;
alter table reviews add constraint reviews_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table reviews add constraint reviews_pkey PRIMARY KEY (id);
CREATE INDEX reviews_author_id ON reviews USING btree (author_id, id);
CREATE INDEX reviews_editor ON reviews USING btree (editor_id) WHERE (editor_id IS NOT NULL);
CREATE UNIQUE INDEX reviews_pending ON reviews USING btree (pull_id, author_id) WHERE (state = 'PENDING'::text);
CREATE INDEX reviews_pull ON reviews USING btree (pull_id, id);
CREATE INDEX reviews_repo ON reviews USING btree (repo_id);
CREATE TRIGGER touch_delete AFTER DELETE ON reviews REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();
CREATE TRIGGER touch_update AFTER UPDATE ON reviews REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_text();

create table senders (
  number bigint generated always as identity not null
);
alter table senders add constraint senders_pkey PRIMARY KEY (number);

create table sent_codes (
  user_id bigint not null,
  digest bytea not null,
  sent_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
);
alter table sent_codes add constraint sent_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table sent_codes add constraint sent_codes_pkey PRIMARY KEY (user_id);

create table sessions (
  id bigint generated always as identity not null,
  user_id bigint not null,
  digest bytea not null,
  address text not null,
  user_agent text not null,
  created_at timestamp with time zone not null,
  awaits_code boolean default false not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  confirmed_at timestamp with time zone
);
alter table sessions add constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table sessions add constraint sessions_pkey PRIMARY KEY (id);
alter table sessions add constraint sessions_digest_key UNIQUE (digest);
CREATE INDEX sessions_user ON sessions USING btree (user_id, last_seen_at);

create table site_samples (
  at timestamp with time zone not null,
  node text not null,
  facts jsonb not null
);
alter table site_samples add constraint site_samples_pkey PRIMARY KEY (at, node);

create table ssh_keys (
  id bigint generated always as identity not null,
  user_id bigint,
  repo_id bigint,
  title text not null,
  key text not null,
  fingerprint text not null,
  read_only boolean default false not null,
  added_by bigint,
  application_id bigint,
  created_at timestamp with time zone not null
);
alter table ssh_keys add constraint ssh_keys_check CHECK (((user_id IS NULL) <> (repo_id IS NULL)));
alter table ssh_keys add constraint ssh_keys_added_by_fkey FOREIGN KEY (added_by) REFERENCES accounts(id) ON DELETE CASCADE;
alter table ssh_keys add constraint ssh_keys_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE SET NULL;
alter table ssh_keys add constraint ssh_keys_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table ssh_keys add constraint ssh_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table ssh_keys add constraint ssh_keys_pkey PRIMARY KEY (id);
alter table ssh_keys add constraint ssh_keys_fingerprint_key UNIQUE (fingerprint);
CREATE INDEX ssh_keys_application ON ssh_keys USING btree (application_id, added_by) WHERE (application_id IS NOT NULL);
CREATE INDEX ssh_keys_repo ON ssh_keys USING btree (repo_id) WHERE (repo_id IS NOT NULL);
CREATE INDEX ssh_keys_user ON ssh_keys USING btree (user_id) WHERE (user_id IS NOT NULL);

create table stars (
  user_id bigint not null,
  repo_id bigint not null,
  starred_at timestamp with time zone not null
);
alter table stars add constraint stars_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table stars add constraint stars_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table stars add constraint stars_pkey PRIMARY KEY (user_id, repo_id);
CREATE INDEX stars_repo ON stars USING btree (repo_id, starred_at, user_id);
CREATE INDEX stars_user ON stars USING btree (user_id, starred_at, repo_id);
CREATE TRIGGER count_new_stars AFTER INSERT ON stars REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stars();
CREATE TRIGGER count_old_stars AFTER DELETE ON stars REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stars();

create table status_contexts (
  repo_id bigint not null,
  sha text not null,
  context text not null,
  state text not null,
  status_id bigint not null,
  statuses_count integer not null
);
alter table status_contexts add constraint status_contexts_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table status_contexts add constraint status_contexts_status_id_fkey FOREIGN KEY (status_id) REFERENCES commit_statuses(id) ON DELETE CASCADE;
alter table status_contexts add constraint status_contexts_pkey PRIMARY KEY (repo_id, sha, context);
CREATE INDEX status_contexts_status ON status_contexts USING btree (status_id);

create table subscriptions (
  user_id bigint not null,
  repo_id bigint not null,
  ignored boolean default false not null,
  created_at timestamp with time zone not null,
  kinds text[]
);
alter table subscriptions add constraint subscriptions_check CHECK (((cardinality(kinds) > 0) AND (kinds <@ ARRAY['Issue'::text, 'PullRequest'::text, 'Release'::text, 'Commit'::text]) AND (NOT (ignored AND (kinds IS NOT NULL)))));
alter table subscriptions add constraint subscriptions_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_pkey PRIMARY KEY (user_id, repo_id);
CREATE INDEX subscriptions_repo ON subscriptions USING btree (repo_id, created_at, user_id);
CREATE TRIGGER count_new_subscribers AFTER INSERT ON subscriptions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_subscribers();
CREATE TRIGGER count_old_subscribers AFTER DELETE ON subscriptions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_subscribers();
CREATE TRIGGER recount_subscribers AFTER UPDATE ON subscriptions REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION recount_subscribers();
CREATE TRIGGER touch_delete AFTER DELETE ON subscriptions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_subscriptions();
CREATE TRIGGER touch_insert AFTER INSERT ON subscriptions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_subscriptions();
CREATE TRIGGER touch_update AFTER UPDATE ON subscriptions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_subscriptions();

create table team_members (
  team_id bigint not null,
  user_id bigint not null,
  role text not null,
  created_at timestamp with time zone not null
);
alter table team_members add constraint team_members_role_check CHECK ((role = ANY (ARRAY['maintainer'::text, 'member'::text])));
alter table team_members add constraint team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE;
alter table team_members add constraint team_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table team_members add constraint team_members_pkey PRIMARY KEY (team_id, user_id);
CREATE INDEX team_members_user ON team_members USING btree (user_id);
CREATE TRIGGER pause_hooks AFTER DELETE ON team_members REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pause_hooks_of_gone_users();
CREATE TRIGGER touch_delete AFTER DELETE ON team_members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();
CREATE TRIGGER touch_insert AFTER INSERT ON team_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();
CREATE TRIGGER touch_update AFTER UPDATE ON team_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_access();

create table team_repositories (
  team_id bigint not null,
  repo_id bigint not null,
  access smallint not null
);
alter table team_repositories add constraint team_repositories_access_check CHECK (((access >= 1) AND (access <= 5)));
alter table team_repositories add constraint team_repositories_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table team_repositories add constraint team_repositories_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE;
alter table team_repositories add constraint team_repositories_pkey PRIMARY KEY (team_id, repo_id);
CREATE INDEX team_repositories_repo ON team_repositories USING btree (repo_id);
CREATE TRIGGER pause_hooks AFTER DELETE ON team_repositories REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pause_hooks_of_gone_teams();
CREATE TRIGGER pause_hooks_of_lowered AFTER UPDATE OF access ON team_repositories FOR EACH ROW WHEN ((new.access < old.access)) EXECUTE FUNCTION pause_hooks_of_team();
CREATE TRIGGER touch_delete AFTER DELETE ON team_repositories REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_insert AFTER INSERT ON team_repositories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_update AFTER UPDATE ON team_repositories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();

create table teams (
  id bigint generated always as identity not null,
  org_id bigint not null,
  name text not null,
  slug text not null,
  description text,
  privacy text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  access smallint default 1 not null
);
alter table teams add constraint teams_access_check CHECK (((access >= 1) AND (access <= 5)));
alter table teams add constraint teams_privacy_check CHECK ((privacy = ANY (ARRAY['closed'::text, 'secret'::text])));
alter table teams add constraint teams_org_id_fkey FOREIGN KEY (org_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table teams add constraint teams_pkey PRIMARY KEY (id);
alter table teams add constraint teams_org_id_slug_key UNIQUE (org_id, slug);

create table thread_subscriptions (
  subject_id bigint not null,
  user_id bigint not null,
  state text not null,
  reason notification_reason not null,
  created_at timestamp with time zone not null,
  after_notice bigint default 0 not null
);
alter table thread_subscriptions add constraint thread_subscriptions_state_check CHECK ((state = ANY (ARRAY['subscribed'::text, 'muted'::text, 'ignored'::text])));
alter table thread_subscriptions add constraint thread_subscriptions_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES notification_subjects(id) ON DELETE CASCADE;
alter table thread_subscriptions add constraint thread_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table thread_subscriptions add constraint thread_subscriptions_pkey PRIMARY KEY (subject_id, user_id);
CREATE INDEX thread_subscriptions_user ON thread_subscriptions USING btree (user_id);

create table threads (
  id bigint generated always as identity not null,
  user_id bigint not null,
  repo_id bigint not null,
  subject_id bigint not null,
  reason notification_reason not null,
  unread boolean default true not null,
  done boolean default false not null,
  updated_at timestamp with time zone not null,
  last_read_at timestamp with time zone,
  "position" bigint not null,
  notice_ids bigint[] not null,
  reasons notification_reason[] not null,
  conditional boolean default false not null,
  snoozed_until timestamp with time zone,
  saved boolean default false not null
);
alter table threads add constraint threads_pkey PRIMARY KEY (id);
CREATE INDEX threads_changed ON threads USING btree (user_id, "position", id);
CREATE INDEX threads_done ON threads USING btree (user_id, updated_at, id) WHERE done;
CREATE INDEX threads_inbox ON threads USING btree (user_id, updated_at, id) INCLUDE (repo_id, conditional) WHERE (NOT done);
CREATE INDEX threads_participating ON threads USING btree (user_id, updated_at, id) WHERE (reason <> 'subscribed'::notification_reason);
CREATE INDEX threads_repo ON threads USING btree (user_id, repo_id, updated_at, id);
CREATE INDEX threads_returning ON threads USING btree (snoozed_until) WHERE (snoozed_until IS NOT NULL);
CREATE INDEX threads_saved ON threads USING btree (user_id, updated_at, id) WHERE saved;
CREATE INDEX threads_snoozed ON threads USING btree (user_id, updated_at, id) WHERE (snoozed_until IS NOT NULL);
CREATE UNIQUE INDEX threads_subject ON threads USING btree (subject_id, user_id);
CREATE INDEX threads_unread ON threads USING btree (user_id, updated_at, id) INCLUDE (repo_id, conditional) WHERE unread;
CREATE INDEX threads_updated ON threads USING brin (updated_at) WITH (pages_per_range='16');
CREATE TRIGGER touch_delete AFTER DELETE ON threads REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_threads();
CREATE TRIGGER touch_insert AFTER INSERT ON threads REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_threads();
CREATE TRIGGER touch_update AFTER UPDATE ON threads REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_threads();

create table token_repositories (
  token_id bigint not null,
  repo_id bigint not null
);
alter table token_repositories add constraint token_repositories_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table token_repositories add constraint token_repositories_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id) ON DELETE CASCADE;
alter table token_repositories add constraint token_repositories_pkey PRIMARY KEY (token_id, repo_id);
CREATE INDEX token_repositories_repo ON token_repositories USING btree (repo_id);
CREATE TRIGGER touch_delete AFTER DELETE ON token_repositories REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_token_repositories();
CREATE TRIGGER touch_insert AFTER INSERT ON token_repositories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_token_repositories();

create table tokens (
  id bigint generated always as identity not null,
  user_id bigint not null,
  digest bytea not null,
  last_eight text not null,
  note text,
  scopes text[] not null,
  impersonation boolean default false not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  kind text default 'classic'::text not null,
  application_id bigint,
  code_digest bytea,
  note_url text,
  fingerprint text,
  last_used_at timestamp with time zone,
  permissions jsonb,
  resource_owner_id bigint,
  all_repositories boolean default true not null,
  installation_id bigint,
  app_id bigint
);
alter table tokens add constraint tokens_app_check CHECK (((kind = 'app_user'::text) = (app_id IS NOT NULL)));
alter table tokens add constraint tokens_installation_check CHECK (((kind = 'installation'::text) = (installation_id IS NOT NULL)));
alter table tokens add constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['classic'::text, 'fine_grained'::text, 'oauth'::text, 'installation'::text, 'app_user'::text])));
alter table tokens add constraint tokens_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE;
alter table tokens add constraint tokens_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE;
alter table tokens add constraint tokens_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES installations(id) ON DELETE CASCADE;
alter table tokens add constraint tokens_resource_owner_id_fkey FOREIGN KEY (resource_owner_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table tokens add constraint tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table tokens add constraint tokens_pkey PRIMARY KEY (id);
alter table tokens add constraint tokens_digest_key UNIQUE (digest);
CREATE INDEX tokens_app ON tokens USING btree (app_id) WHERE (app_id IS NOT NULL);
CREATE INDEX tokens_application ON tokens USING btree (application_id, user_id, created_at) WHERE (application_id IS NOT NULL);
CREATE INDEX tokens_code ON tokens USING btree (code_digest) WHERE (code_digest IS NOT NULL);
CREATE INDEX tokens_installation ON tokens USING btree (installation_id, expires_at) WHERE (installation_id IS NOT NULL);
CREATE INDEX tokens_user ON tokens USING btree (user_id);
CREATE TRIGGER touch_delete AFTER DELETE ON tokens REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_deleted_tokens();
CREATE TRIGGER touch_update AFTER UPDATE ON tokens REFERENCING OLD TABLE AS former NEW TABLE AS latest FOR EACH STATEMENT EXECUTE FUNCTION touch_tokens();

create table topic_changes (
  topic text not null,
  xid xid8 default pg_current_xact_id() not null,
  created_at timestamp with time zone default clock_timestamp() not null
);
CREATE INDEX topic_changes_age ON topic_changes USING brin (created_at) WITH (pages_per_range='16');
CREATE INDEX topic_changes_topic ON topic_changes USING btree (topic, xid);
CREATE INDEX topic_changes_xid ON topic_changes USING btree (xid);

create table transfers (
  id bigint generated always as identity not null,
  repo_id bigint not null,
  receiver_id bigint not null,
  requester_id bigint not null,
  new_name text,
  created_at timestamp with time zone not null
);
alter table transfers add constraint transfers_receiver_id_fkey FOREIGN KEY (receiver_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table transfers add constraint transfers_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES repositories(id) ON DELETE CASCADE;
alter table transfers add constraint transfers_requester_id_fkey FOREIGN KEY (requester_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table transfers add constraint transfers_pkey PRIMARY KEY (id);
alter table transfers add constraint transfers_repo_id_key UNIQUE (repo_id);
CREATE INDEX transfers_receiver ON transfers USING btree (receiver_id);
CREATE INDEX transfers_requester ON transfers USING btree (requester_id);
CREATE TRIGGER forget_transfer_subjects AFTER DELETE ON transfers REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_transfer_subjects();
CREATE TRIGGER touch_delete AFTER DELETE ON transfers REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_insert AFTER INSERT ON transfers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();
CREATE TRIGGER touch_update AFTER UPDATE ON transfers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_everything();

create table two_factor (
  user_id bigint not null,
  kind text not null,
  secret bytea,
  phone text,
  last_step bigint default 0 not null,
  enabled_at timestamp with time zone not null,
  recovery_salt bytea
);
alter table two_factor add constraint two_factor_kind_check CHECK ((kind = ANY (ARRAY['app'::text, 'sms'::text])));
alter table two_factor add constraint two_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table two_factor add constraint two_factor_pkey PRIMARY KEY (user_id);

create table watching_preferences (
  user_id bigint not null,
  watches_created boolean not null,
  watches_given boolean not null
);
alter table watching_preferences add constraint watching_preferences_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table watching_preferences add constraint watching_preferences_pkey PRIMARY KEY (user_id);

create unlogged table workers (
  id text not null,
  seen_at timestamp with time zone not null
);
alter table workers add constraint workers_pkey PRIMARY KEY (id);

CREATE OR REPLACE FUNCTION access_by_name(viewer bigint, repo repositories)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select case when repo.forked_from_private and not reaches_source(viewer, repo.parent_id) then 0 else coalesce(greatest(
    case when repo.owner_id = viewer then 5 end,
    (select case m.role when 'admin' then 5 else o.member_access end
       from memberships m join accounts o on o.id = m.org_id
      where m.org_id = repo.owner_id and m.user_id = viewer),
    (select max(t.access) from team_repositories t join team_members m using (team_id)
      where t.repo_id = repo.id and m.user_id = viewer),
    (select c.access from collaborators c where c.repo_id = repo.id and c.user_id = viewer)
  ), 0) end
$function$;

CREATE OR REPLACE FUNCTION access_of(viewer bigint, repo repositories)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select greatest(case when repo.private then 0 else 1 end, access_by_name(viewer, repo))
$function$;

CREATE OR REPLACE FUNCTION account_document(login text, name text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return setweight(to_tsvector('simple', login || ' ' || replace(login, '-', ' ')), 'A') || setweight(to_tsvector('simple', coalesce(name, '')), 'B');
end
$function$;

CREATE OR REPLACE FUNCTION app_is_enabled(app bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from apps p join applications c on c.id = p.application_id join accounts o on o.id = c.owner_id
    where p.id = app and o.suspended_at is null)
$function$;

CREATE OR REPLACE FUNCTION author_association(author bigint, repo bigint)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select case
      when r.owner_id = author then 'OWNER'
      when exists (select from memberships m where m.org_id = r.owner_id and m.user_id = author and m.public) then 'MEMBER'
      when exists (select from collaborators c where c.repo_id = r.id and c.user_id = author) then 'COLLABORATOR' end
    from repositories r where r.id = repo);
end
$function$;

CREATE OR REPLACE FUNCTION count_comments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    update issues i set comments_count = comments_count + total, updated_at = greatest(i.updated_at, c.at)
    from (select issue_id, count(*) as total, max(created_at) as at from changed group by issue_id) c where i.id = c.issue_id;
  else
    update issues i set comments_count = comments_count - total
    from (select issue_id, count(*) as total from changed group by issue_id) c where i.id = c.issue_id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_issues()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sign integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  update repositories r set open_issues_count = open_issues_count + sign * total
  from (select repo_id, count(*) as total from changed where state = 'open' group by repo_id) c where r.id = c.repo_id;
  update milestones m set open_issues = open_issues + sign * open, closed_issues = closed_issues + sign * closed
  from (
    select milestone_id, count(*) filter (where state = 'open') as open, count(*) filter (where state = 'closed') as closed
    from changed where milestone_id is not null group by milestone_id
  ) c where m.id = c.milestone_id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_stars()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update repositories r set stargazers_count = stargazers_count + case tg_op when 'INSERT' then total else -total end
  from (select repo_id, count(*) as total from changed group by repo_id) c where r.id = c.repo_id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_subscribers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update repositories r set subscribers_count = subscribers_count + case tg_op when 'INSERT' then total else -total end
  from (select repo_id, count(*) as total from changed where not ignored group by repo_id) c where r.id = c.repo_id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION current_traceparent()
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select nullif(current_setting('belfry.traceparent', true), '')
$function$;

CREATE OR REPLACE FUNCTION delivery_day(at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select floor(extract(epoch from at) / 86400)::bigint - 18262
$function$;

CREATE OR REPLACE FUNCTION delivery_id(at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select (delivery_day(at) << 36) + (nextval('delivery_numbers') & ((1::bigint << 36) - 1))
$function$;

CREATE OR REPLACE FUNCTION detach_fork(fork bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  with recursive branch (id) as (
    select fork union all select r.id from repositories r join branch b on r.parent_id = b.id)
  update repositories r set network_id = fork, parent_id = case when r.id <> fork then r.parent_id end,
    forked_from_private = r.forked_from_private and r.id <> fork
  from branch where branch.id = r.id
$function$;

CREATE OR REPLACE FUNCTION drop_deliveries_of_hook()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform graphile_worker.add_job('drop_deliveries', json_build_object('hook_id', new.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION drop_delivery_day(day bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('drop table if exists %I, %I', 'payloads_' || day, 'deliveries_' || day);
end
$function$;

CREATE OR REPLACE FUNCTION drop_events(partition text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('drop table %I', partition);
end
$function$;

CREATE OR REPLACE FUNCTION enqueue_job(task text, payload json, key text DEFAULT NULL::text, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, mode text DEFAULT 'replace'::text)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  job record;
  trace text := current_setting('belfry.traceparent', true);
begin
  if trace <> '' then
    payload := (payload::jsonb || jsonb_build_object('traceparent', trace))::json;
  end if;
  loop
    select * into job from graphile_worker.add_job(task, payload, job_key := key, run_at := run_at, job_key_mode := mode);
    exit when job.id is not null;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION epoch(at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select floor(extract(epoch from at))::bigint
$function$;

CREATE OR REPLACE FUNCTION event_facts(kind text, payload jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  facts jsonb;
begin
  if kind = 'IssuesEvent' then
    facts := jsonb_build_object('issue', issue_facts((payload->>'issue_id')::bigint));
  elsif kind = 'IssueCommentEvent' then
    facts := jsonb_build_object('issue', issue_facts((payload->>'issue_id')::bigint), 'comment', (
      select jsonb_build_object('author_id', c.author_id, 'author_association', author_association(c.author_id, c.repo_id))
      from comments c where c.id = (payload->>'comment_id')::bigint));
  elsif kind = 'PullRequestEvent' then
    facts := jsonb_build_object('pull', pull_facts((payload->>'pull_id')::bigint));
  elsif kind = 'PullRequestReviewEvent' then
    facts := jsonb_build_object('pull', pull_facts((payload->>'pull_id')::bigint), 'review', (
      select jsonb_build_object('author_id', v.author_id, 'author_association', author_association(v.author_id, v.repo_id),
        'state', v.state, 'commit_id', v.commit_id, 'submitted_at', epoch(v.submitted_at), 'updated_at', epoch(v.updated_at))
      from reviews v where v.id = (payload->>'review_id')::bigint));
  elsif kind = 'PullRequestReviewCommentEvent' then
    facts := jsonb_build_object('pull', pull_facts((payload->>'pull_id')::bigint), 'comment', (
      select jsonb_build_object('author_id', c.author_id, 'author_association', author_association(c.author_id, c.repo_id))
      from review_comments c where c.id = (payload->>'review_comment_id')::bigint));
  elsif kind = 'CommitCommentEvent' then
    facts := jsonb_build_object('comment', (
      select jsonb_build_object('author_id', c.author_id, 'author_association', author_association(c.author_id, c.repo_id))
      from commit_comments c where c.id = (payload->>'commit_comment_id')::bigint));
  elsif kind = 'ReleaseEvent' then
    facts := jsonb_build_object('release', (
      select jsonb_build_object('author_id', e.author_id, 'tag_name', e.tag_name, 'target_commitish', e.target_commitish, 'name', e.name,
        'prerelease', nullif(e.prerelease, false), 'created_at', epoch(e.created_at), 'published_at', epoch(e.published_at))
      from releases e where e.id = (payload->>'release_id')::bigint));
  elsif kind = 'ForkEvent' then
    facts := jsonb_build_object('forkee', (
      select repository_facts(r) from repositories r where r.id = (payload->>'forkee_id')::bigint));
  else
    return null;
  end if;
  if payload ? 'label_id' then
    facts := facts || jsonb_build_object('label', (select label_facts(l) from labels l where l.id = (payload->>'label_id')::bigint));
  end if;
  return jsonb_strip_nulls(facts);
end
$function$;

CREATE OR REPLACE FUNCTION fan_out(at timestamp with time zone, event notification_events, everyone boolean, own boolean, concerns notification_reason, users text[], team_orgs text[], team_slugs text[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  place record;
  -- Users whom the event addresses directly, each with the strongest reason, and those of them who are notified.
  addressed bigint[] := '{}';
  addressed_reasons notification_reason[];
  notified bigint[];
  notified_reasons notification_reason[];
begin
  select r.id as repo_id, r.owner_id, s.type, not r.private or s.invitation_id is not null or s.transfer_id is not null as open,
    num_nonnulls(s.invitation_id, s.transfer_id, s.hook_id, s.release_id) > 0 as conditional
  into place from notification_subjects s join repositories r on r.id = s.repo_id where s.id = event.subject_id;
  if not found then
    return;
  end if;
  -- Most events address nobody: planning and starting a statement for all of them took a third of the time.
  if event.people <> '{}' or event.teams <> '{}' or users <> '{}' or team_slugs <> '{}' then
    -- A secret team can be mentioned only by users who may see it.
    select coalesce(array_agg(c.user_id), '{}'), array_agg(c.reason) into addressed, addressed_reasons
    from (
      select one.user_id, min(one.reason) as reason
      from (
        select unnest(event.people) as user_id, concerns as reason
        union all select m.user_id, concerns from team_members m where m.team_id = any(event.teams)
        union all select a.id, 'mention' from accounts a where lower(a.login) = any(users) and a.type = 'User'
        union all select m.user_id, 'team_mention'
        from unnest(team_orgs, team_slugs) as named (org, slug)
          join accounts o on o.id = place.owner_id and named.org = lower(o.login)
          join teams t on t.org_id = o.id and t.slug = named.slug
          join team_members m on m.team_id = t.id
        where exists (
          select from memberships known where known.org_id = t.org_id and known.user_id = event.actor_id
            and (t.privacy = 'closed' or known.role = 'admin'
              or exists (select from team_members inside where inside.team_id = t.id and inside.user_id = known.user_id)))
      ) one group by one.user_id
    ) c;
    -- A user who ignores a thread is notified of mentions only. A user who left a thread is notified if they watch the repository. An act with
    -- `own` changes only a thread that exists.
    select array_agg(a.user_id), array_agg(a.reason) into notified, notified_reasons
    from unnest(addressed, addressed_reasons) as a (user_id, reason)
      left join thread_subscriptions s on s.subject_id = event.subject_id and s.user_id = a.user_id
      left join subscriptions w on w.repo_id = place.repo_id and w.user_id = a.user_id
    where case when own then exists (select from threads had where had.subject_id = event.subject_id and had.user_id = a.user_id)
      else a.user_id <> event.actor_id and not coalesce(w.ignored, false)
        and (a.reason = 'mention' or coalesce(s.state, 'subscribed') = 'subscribed' or (s.state = 'muted' and watches(w, place.type)))
        and (place.open or access_by_name(a.user_id, (select r from repositories r where r.id = place.repo_id)) > 0) end;
    insert into thread_subscriptions as s (subject_id, user_id, state, reason, created_at, after_notice)
    select event.subject_id, a.user_id, 'subscribed', a.reason, at, event.id from unnest(notified, notified_reasons) as a (user_id, reason)
    on conflict (subject_id, user_id) do update set reason = excluded.reason,
      state = case when excluded.reason = 'mention' then 'subscribed' else s.state end;
  end if;
  -- Participants; then watchers, also those who subscribed to the thread after the event. Users are not notified of their own acts, or of
  -- repositories they may not see, except for invitations and transfers to them. A thread remembers its last hundred events.
  insert into threads as t (user_id, repo_id, subject_id, reason, conditional, updated_at, position, notice_ids, reasons)
  select c.user_id, place.repo_id, event.subject_id, c.reason, place.conditional, at, (select log_position()), array[event.id], array[c.reason]
  from (
    select a.user_id, a.reason from unnest(notified, notified_reasons) as a (user_id, reason)
    union all
    select o.user_id, o.reason
    from (
      select p.user_id, p.reason
      from thread_subscriptions p left join subscriptions w on w.repo_id = place.repo_id and w.user_id = p.user_id
      where everyone and p.subject_id = event.subject_id and p.state = 'subscribed' and p.after_notice < event.id
        and not coalesce(w.ignored, false)
      union all
      select w.user_id, 'subscribed'
      from subscriptions w left join thread_subscriptions s on s.subject_id = event.subject_id and s.user_id = w.user_id
      where everyone and w.repo_id = place.repo_id and watches(w, place.type)
        and (coalesce(s.state, 'muted') = 'muted' or (s.state = 'subscribed' and s.after_notice >= event.id))
    ) o
    where o.user_id <> all(addressed) and o.user_id <> event.actor_id
      and (place.open or access_by_name(o.user_id, (select r from repositories r where r.id = place.repo_id)) > 0)
  ) c
  on conflict (subject_id, user_id) do update set
    unread = t.unread or not own, done = t.done and own, position = excluded.position,
    updated_at = greatest(t.updated_at, excluded.updated_at),
    reason = case when excluded.reason = 'subscribed' then t.reason else excluded.reason end,
    notice_ids = (t.notice_ids || excluded.notice_ids)[greatest(1, cardinality(t.notice_ids) - 98):],
    reasons = (t.reasons || excluded.reasons)[greatest(1, cardinality(t.reasons) - 98):];
end
$function$;

CREATE OR REPLACE FUNCTION fan_out_now(at timestamp with time zone, stored notification_events[], notices jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '100ms'
AS $function$
declare
  rule record;
begin
  for rule in select * from rows from (jsonb_to_recordset(notices) as (everyone boolean, own boolean, concerns notification_reason))
    with ordinality as listed (everyone, own, concerns, place)
  loop
    perform fan_out(at, stored[rule.place], rule.everyone, rule.own, rule.concerns, '{}', '{}', '{}');
  end loop;
  return true;
exception when lock_not_available then
  return false;
end
$function$;

CREATE OR REPLACE FUNCTION forget_invitation_subjects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from notification_subjects s using gone
  where s.invitation_id = gone.id and not exists (select from accepted_invitations a where a.id = gone.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION forget_threads()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from gone) then
    perform graphile_worker.add_job('forget_threads', json_build_object(tg_argv[0], (select json_agg(id) from gone)));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION forget_transfer_subjects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from notification_subjects s using gone where s.transfer_id = gone.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION issue_facts(issue bigint)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select jsonb_build_object(
      'number', i.number, 'title', i.title, 'author_id', i.author_id, 'author_association', author_association(i.author_id, i.repo_id),
      'state', nullif(i.state, 'open'), 'state_reason', i.state_reason, 'locked', nullif(i.locked, false), 'lock_reason', i.lock_reason,
      'milestone', case when i.milestone_id is not null then milestone_facts(i.milestone_id) end,
      'labels', (select jsonb_agg(label_facts(l) order by lower(l.name))
        from issue_labels b join labels l on l.id = b.label_id where b.issue_id = i.id),
      'assignees', (select jsonb_agg(s.user_id order by s.assigned_at, s.user_id) from issue_assignees s where s.issue_id = i.id),
      'comments_count', nullif(i.comments_count, 0), 'created_at', epoch(i.created_at), 'updated_at', epoch(i.updated_at),
      'closed_at', epoch(i.closed_at), 'closed_by_id', i.closed_by_id,
      'pull_id', p.id, 'draft', nullif(p.draft, false), 'merged_at', epoch(p.merged_at))
    from issues i left join pulls p on p.issue_id = i.id where i.id = issue);
end
$function$;

CREATE OR REPLACE FUNCTION label_facts(l labels)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object('id', l.id, 'name', l.name, 'color', l.color, 'description', l.description)
$function$;

CREATE OR REPLACE FUNCTION log_horizon()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + base from log_base
$function$;

CREATE OR REPLACE FUNCTION log_position()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select pg_current_xact_id()::text::bigint + base from log_base
$function$;

CREATE OR REPLACE FUNCTION log_seen(place bigint, snapshot pg_snapshot, base bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select pg_visible_in_snapshot(greatest(place - base, 3)::text::xid8, snapshot)
$function$;

CREATE OR REPLACE FUNCTION milestone_facts(milestone bigint)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select jsonb_build_object(
      'id', m.id, 'number', m.number, 'title', m.title, 'creator_id', m.creator_id, 'state', nullif(m.state, 'open'),
      'open_issues', nullif(m.open_issues, 0), 'closed_issues', nullif(m.closed_issues, 0), 'due_on', epoch(m.due_on),
      'created_at', epoch(m.created_at), 'updated_at', epoch(m.updated_at), 'closed_at', epoch(m.closed_at))
    from milestones m where m.id = milestone);
end
$function$;

CREATE OR REPLACE FUNCTION open_delivery_day(day bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if to_regclass('deliveries_' || day) is null then
    -- Two first acts of a day take turns.
    perform pg_advisory_xact_lock(hashtext('delivery day'));
    execute format('create table if not exists %I partition of payloads for values from (%s) to (%s)', 'payloads_' || day, day << 36, (day + 1) << 36);
    execute format('create table if not exists %I partition of deliveries for values from (%s) to (%s)', 'deliveries_' || day, day << 36, (day + 1) << 36);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION owner_reaches(repo repositories)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select not repo.forked_from_private or reaches_source(repo.owner_id, repo.parent_id)
$function$;

CREATE OR REPLACE FUNCTION pause_hook_of_nobody()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.active and new.deleted_at is null then
    new.active := false;
    new.paused_at := null;
    new.paused_reason := 'maker_deleted';
    perform graphile_worker.add_job('hook_paused', json_build_object('hook_id', new.id));
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of(makers bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  paused bigint;
begin
  for paused in
    update hooks h set active = false, paused_at = null,
      paused_reason = case when a.suspended_at is null then 'maker_lost_access' else 'maker_suspended' end
    from accounts a
    where h.creator_id = any(makers) and a.id = h.creator_id and h.active and h.deleted_at is null
      and (a.suspended_at is not null
        or (h.repo_id is not null and not exists (
          select from repositories r where r.id = h.repo_id and access_by_name(a.id, r) >= 5))
        or (h.org_id is not null and not exists (
          select from memberships m where m.org_id = h.org_id and m.user_id = a.id and m.role = 'admin')))
    returning h.id
  loop
    perform graphile_worker.add_job('hook_paused', json_build_object('hook_id', paused));
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pause_hooks_of(array(select new.id union all select user_id from memberships where org_id = new.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of_gone_teams()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pause_hooks_of((select array_agg(distinct m.user_id) from gone join team_members m using (team_id)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of_gone_users()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pause_hooks_of((select array_agg(distinct user_id) from gone));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of_repository()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pause_hooks_of(array(
    select h.creator_id from hooks h where h.repo_id = new.id
    union select h.creator_id from repositories f join hooks h on h.repo_id = f.id
      where f.network_id = new.network_id and f.forked_from_private));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of_team()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pause_hooks_of(array(select user_id from team_members where team_id = new.team_id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION pause_hooks_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pause_hooks_of(array[new.user_id]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION publish_acts(at timestamp with time zone, actor bigint, repo bigint, events jsonb, subject jsonb, notices jsonb, participants jsonb, direct_at timestamp with time zone, webhooks text[])
 RETURNS SETOF hooks
 LANGUAGE plpgsql
AS $function$
begin
  if events is not null then
    perform record_events(at, actor, repo, events);
  end if;
  if webhooks is not null then
    return query
      select h.* from hooks h where h.repo_id = repo and h.active and h.deleted_at is null and h.events && webhooks
      union all
      select h.* from repositories r join hooks h on h.org_id = r.owner_id
      where r.id = repo and h.active and h.deleted_at is null and h.events && webhooks
      union all
      select h.* from repositories r join installations i on i.account_id = r.owner_id join hooks h on h.app_id = i.app_id
      where r.id = repo and i.suspended_at is null and h.active and h.deleted_at is null and i.events && webhooks
        and (i.all_repositories or exists (
          select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id))
        and app_is_enabled(i.app_id);
    if found then
      direct_at := null;
    end if;
  end if;
  if notices is not null then
    perform store_notices(at, actor, repo, subject, notices, participants, direct_at);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION pull_facts(pull bigint)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select issue_facts(p.issue_id) || jsonb_build_object(
      'issue_id', p.issue_id, 'head_repo_id', p.head_repo_id, 'head_owner_id', p.head_owner_id, 'head_ref', p.head_ref,
      'head_sha', p.head_sha, 'base_ref', p.base_ref, 'base_sha', p.base_sha,
      'maintainer_can_modify', nullif(p.maintainer_can_modify, false), 'merged_by_id', p.merged_by_id,
      'merge_commit_sha', p.merge_commit_sha, 'mergeable_state', case when p.mergeable_head = p.head_sha then p.mergeable_state end,
      'commits', nullif(p.commits, 0), 'additions', nullif(p.additions, 0), 'deletions', nullif(p.deletions, 0),
      'changed_files', nullif(p.changed_files, 0), 'review_comments_count', (select nullif(count(*), 0)
        from review_comments c left join reviews v on v.id = c.review_id where c.pull_id = p.id and v.state is distinct from 'PENDING'),
      'requested_reviewers', (select jsonb_agg(q.user_id order by q.requested_at, q.user_id)
        from review_requests q where q.pull_id = p.id and q.user_id is not null),
      'base', (select repository_facts(r) from repositories r where r.id = p.repo_id),
      'head', (select repository_facts(r) from repositories r where r.id = p.head_repo_id and r.id <> p.repo_id and not r.private))
    from pulls p where p.id = pull);
end
$function$;

CREATE OR REPLACE FUNCTION reaches_source(account bigint, parent bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (
    select from repositories p where p.id = parent and (access_of(account, p) > 0 or exists (
      select from memberships m where m.org_id = account and m.role = 'admin' and access_of(m.user_id, p) > 0)));
end
$function$;

CREATE OR REPLACE FUNCTION record_events(at timestamp with time zone, actor bigint, repo bigint, acts jsonb)
 RETURNS SETOF bigint
 LANGUAGE plpgsql
AS $function$
declare
  month timestamptz := date_trunc('month', at, 'UTC');
  partition text := 'events_' || to_char(month at time zone 'UTC', 'YYYY_MM');
begin
  if to_regclass(partition) is null then
    -- Two transactions that record the first events of a month take turns.
    perform pg_advisory_xact_lock(hashtext('events partition'));
    execute format('create table if not exists %I partition of events for values from (%L) to (%L)',
      partition, month, date_trunc('month', month + interval '32 days', 'UTC'));
  end if;
  return query
    insert into events (position, type, actor_id, repo_id, public, payload, facts, created_at)
    select log_position(), act->>'type', actor, r.id, not r.private, act->'payload', event_facts(act->>'type', act->'payload'), at
    from jsonb_array_elements(acts) with ordinality as listed (act, place) join repositories r on r.id = repo
    order by place
    returning id;
end
$function$;

CREATE OR REPLACE FUNCTION recount_issue()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.state <> new.state then
    update repositories set open_issues_count = open_issues_count + case new.state when 'open' then 1 else -1 end where id = new.repo_id;
  end if;
  update milestones m set
    open_issues = open_issues + (after and new.state = 'open')::integer - (before and old.state = 'open')::integer,
    closed_issues = closed_issues + (after and new.state = 'closed')::integer - (before and old.state = 'closed')::integer
  from (select id, id is not distinct from old.milestone_id as before, id is not distinct from new.milestone_id as after
    from unnest(array[old.milestone_id, new.milestone_id]) id group by id) c
  where m.id = c.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION recount_subscribers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update repositories r set subscribers_count = subscribers_count + total
  from (
    select repo_id, sum(change) as total
    from (select repo_id, 1 as change from after where not ignored
      union all select repo_id, -1 from before where not ignored) changes
    group by repo_id having sum(change) <> 0
  ) c where r.id = c.repo_id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION repository_document(name text, description text, topics text[])
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return setweight(to_tsvector('simple', name || ' ' || regexp_replace(name, '[^[:alnum:]]+', ' ', 'g')), 'A')
    || setweight(to_tsvector('simple', array_to_string(topics, ' ')), 'B')
    || setweight(to_tsvector('simple', coalesce(description, '')), 'C');
end
$function$;

CREATE OR REPLACE FUNCTION repository_facts(r repositories)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'description', r.description, 'homepage', r.homepage, 'fork', nullif(r.parent_id is not null, false),
    'language', r.language, 'license', r.license,
    'default_branch', nullif(r.default_branch, 'main'), 'topics', to_jsonb(nullif(r.topics, '{}')),
    'archived', nullif(r.archived, false), 'is_template', nullif(r.is_template, false),
    'has_issues', nullif(r.has_issues, true), 'has_projects', nullif(r.has_projects, true), 'has_wiki', nullif(r.has_wiki, true),
    'allow_rebase_merge', nullif(r.allow_rebase_merge, true), 'allow_squash_merge', nullif(r.allow_squash_merge, true),
    'allow_merge_commit', nullif(r.allow_merge_commit, true), 'size', nullif(r.size, 0), 'forks_count', nullif(r.public_forks_count, 0),
    'stargazers_count', nullif(r.stargazers_count, 0), 'subscribers_count', nullif(r.subscribers_count, 0),
    'open_issues_count', nullif(r.open_issues_count, 0),
    'pushed_at', epoch(r.pushed_at), 'created_at', epoch(r.created_at), 'updated_at', epoch(r.updated_at))
$function$;

CREATE OR REPLACE FUNCTION reserve_attempt(subjects text[], most integer[], span interval, wait_for_check boolean, at timestamp with time zone, OUT outcome text, OUT reservation bigint, OUT retry_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  one text;
begin
  -- Losing the last counts in a power failure is acceptable, waiting for the disk at every sign-in is not.
  perform set_config('synchronous_commit', 'off', true);
  for one in select s from unnest(subjects) s order by s loop
    perform pg_advisory_xact_lock(hashtextextended('attempt ' || one, 0));
  end loop;
  select case when bool_or(c.failed >= c.most) then 'refused' when bool_or(c.held >= c.most) then 'busy' else 'reserved' end,
    max(c.free_at) filter (where c.failed >= c.most)
  into outcome, retry_at
  from (
    select w.most, min(a.expires_at) as free_at, count(a.subject) as held,
      count(a.subject) filter (where not a.pending or a.made_at < at - interval '1 minute') as failed
    from unnest(subjects, most) as w (subject, most) left join attempts a on a.subject = w.subject and a.expires_at > at
    group by w.subject, w.most) c;
  if outcome <> 'reserved' then return; end if;
  delete from attempts a using (
    select e.reservation, e.subject from attempts e where e.expires_at <= at order by e.expires_at limit 20 for update skip locked) old
  where a.reservation = old.reservation and a.subject = old.subject;
  reservation := nextval('attempt_reservations');
  insert into attempts (reservation, subject, pending, made_at, expires_at)
  select reserve_attempt.reservation, s, wait_for_check, at, at + span from unnest(subjects) s;
end $function$;

CREATE OR REPLACE FUNCTION search_document(title text, body text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return setweight(to_tsvector('english', coalesce(title, '')), 'A') || setweight(to_tsvector('english', coalesce(body, '')), 'B')
    || array_to_tsvector(array(select distinct '@' || lower(mention[1])
      from regexp_matches(coalesce(body, ''), '(?:^|[^[:alnum:]_/@`.])@([[:alnum:]](?:[[:alnum:]-]{0,37}[[:alnum:]])?)(?![[:alnum:]_])', 'g') mention));
end
$function$;

CREATE OR REPLACE FUNCTION store_deliveries(at timestamp with time zone, repo bigint, events text[], actions text[], bodies text[], installations bigint[], payload_indexes integer[], hook_ids bigint[], waits double precision[], senders bigint[])
 RETURNS TABLE(id bigint, payload_id bigint, hook_id bigint, guid uuid, sender bigint)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
begin
  perform open_delivery_day(delivery_day(at));
  return query
  with published as materialized (
    select delivery_id(at) as id, event, action, body, installation_id, payload_index
    from unnest(events, actions, bodies, installations) with ordinality as listed (event, action, body, installation_id, payload_index)
  ), stored as (
    insert into payloads (id, repo_id, event, action, body, installation_id, created_at)
    select id, repo, event, action, body, installation_id, at from published
  )
  insert into pending_deliveries as d (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at, sender)
  select delivery_id(at), hook_id, published.id, repo, gen_random_uuid(), event, action, false, at, at + wait * interval '1 second', sender
  from unnest(payload_indexes, hook_ids, waits, senders) as subscribed (payload_index, hook_id, wait, sender)
    join published using (payload_index)
  returning d.id, d.payload_id, d.hook_id, d.guid, d.sender;
end
$function$;

CREATE OR REPLACE FUNCTION store_notices(at timestamp with time zone, actor bigint, repo bigint, subject jsonb, notices jsonb, participants jsonb, direct_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  few constant integer := 50;
  subject_key bigint := subject->>'id';
  event notification_events;
  stored notification_events[];
  notice record;
  direct boolean := direct_at is not null;
begin
  if subject_key is null then
    insert into notification_subjects as s (repo_id, type, issue_id, latest_type, latest_id)
    values (repo, subject->>'type', (subject->>'issue_id')::bigint, subject->>'latest_type', (subject->>'latest_id')::bigint)
    on conflict (issue_id) where issue_id is not null do update
      set type = excluded.type, latest_type = coalesce(excluded.latest_type, s.latest_type),
        latest_id = coalesce(excluded.latest_id, s.latest_id)
    returning s.id into subject_key;
  end if;
  -- Events that wait for the job come first.
  direct := direct
    and coalesce((select r.subscribers_count <= few from repositories r where r.id = repo), false)
    and (select count(*) <= few from (select from thread_subscriptions p where p.subject_id = subject_key limit few + 1) p)
    and not exists (select from notification_events n where n.subject_id = subject_key and n.notified_at is null);
  for notice in select * from jsonb_to_recordset(notices) as listed (
    act text, people bigint[], teams bigint[], body text, body_before text, comment_type text, comment_id bigint)
  loop
    insert into notification_events (
      subject_id, actor_id, act, people, teams, body, body_before, comment_type, comment_id, created_at, notified_at)
    values (subject_key, actor, notice.act, notice.people, notice.teams, case when not direct then notice.body end,
      case when not direct then notice.body_before end, notice.comment_type, notice.comment_id, at, case when direct then direct_at end)
    returning * into event;
    stored := stored || event;
  end loop;
  -- A participant keeps the strongest reason. A comment ends the participant's mute; being an author does not.
  for notice in select * from jsonb_to_recordset(participants) as listed (
    user_id bigint, reason notification_reason, unmutes boolean, is_notified boolean)
  loop
    insert into thread_subscriptions as s (subject_id, user_id, state, reason, created_at, after_notice)
    values (subject_key, notice.user_id, 'subscribed', notice.reason, at, case when notice.is_notified then 0 else event.id end)
    on conflict (subject_id, user_id) do update set reason = least(s.reason, excluded.reason),
      state = case when notice.unmutes then 'subscribed' else s.state end,
      after_notice = case s.state when 'subscribed' then s.after_notice else excluded.after_notice end;
  end loop;
  if direct and not fan_out_now(direct_at, stored, notices) then
    direct := false;
    update notification_events n set notified_at = null where n.subject_id = subject_key and n.id = any(select id from unnest(stored));
  end if;
  if not direct then
    perform enqueue_job('tell', json_build_object('subject_id', subject_key), 'tell ' || subject_key);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION token_reaches(token bigint, repo repositories)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from tokens t where t.id = token
      and (t.kind = 'app_user' or (t.resource_owner_id = repo.owner_id
        and (t.all_repositories or exists (select from token_repositories c where c.token_id = t.id and c.repo_id = repo.id))))
      and (t.kind = 'fine_grained' or exists (
        select from installations i where (i.id = t.installation_id or i.app_id = t.app_id)
          and i.account_id = repo.owner_id and i.suspended_at is null
          and (i.all_repositories or exists (
            select from installation_repositories c where c.installation_id = i.id and c.repo_id = repo.id)))))
$function$;

CREATE OR REPLACE FUNCTION touch_access()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(
    select 'a' || user_id from changed
    union select 'w' from repositories r where r.forked_from_private and (r.owner_id in (select user_id from changed)
      or r.owner_id in (select m.org_id from memberships m where m.user_id in (select user_id from changed)))));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_accounts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'a' || id from latest union select 'w' from latest n join former o using (id)
    where (n.login, n.type, n.site_admin, n.suspended_at, n.member_access)
      is distinct from (o.login, o.type, o.site_admin, o.suspended_at, o.member_access)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_conversations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'c' || repo_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_conversations_of_reactions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(
    select 'c' || i.repo_id from changed x join issues i on i.id = x.issue_id
    union select 'c' || c.repo_id from changed x join comments c on c.id = x.comment_id
    union select 'c' || c.repo_id from changed x join review_comments c on c.id = x.review_comment_id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_deleted_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'k' || id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'r' || repo_id from changed union select 'u' || actor_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_everything()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array['w']);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_follows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 's' || follower_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_hooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'w' from latest n join former o using (id)
    where (n.paused_reason, n.deleted_at) is distinct from (o.paused_reason, o.deleted_at)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_invitations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'a' || invitee_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_new_repositories()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'o' || owner_id from changed union select 'n' || network_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_releases()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'r' || repo_id from latest union select 'w' from latest n join former o using (id) where n.draft <> o.draft));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_repositories()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'r' || id from latest union select 'w' from latest n join former o using (id)
    where (n.owner_id, n.name, n.private, n.network_id) is distinct from (o.owner_id, o.name, o.private, o.network_id)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_repository()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'r' || repo_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 's' || user_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_text()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'r' || repo_id from changed union select 'u' || author_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_threads()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'i' || user_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_token_repositories()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'k' || token_id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform touch_topics(array(select 'k' || n.id from latest n join former o using (id)
    where (n.digest, n.scopes, n.permissions, n.all_repositories, n.resource_owner_id, n.expires_at)
      is distinct from (o.digest, o.scopes, o.permissions, o.all_repositories, o.resource_owner_id, o.expires_at)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION touch_topics(topics text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into topic_changes (topic)
  select distinct t.topic from unnest(topics) t (topic)
  where t.topic is not null and not exists (
    select from topic_changes c where c.topic = t.topic and c.xid = pg_current_xact_id());
end
$function$;

CREATE OR REPLACE FUNCTION watches(watcher subscriptions, subject_type text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select not watcher.ignored and (watcher.kinds is null or subject_type = any(watcher.kinds) or subject_type = 'RepositoryImport')
$function$;

CREATE OR REPLACE FUNCTION write_issue_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into issue_documents (issue_id, repo_id, document) values (new.id, new.repo_id, search_document(new.title, new.body))
  on conflict (issue_id) do update set document = excluded.document;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION write_repository_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into repository_documents (repo_id, document) values (new.id, repository_document(new.name, new.description, new.topics))
  on conflict (repo_id) do update set document = excluded.document;
  return null;
end
$function$;
