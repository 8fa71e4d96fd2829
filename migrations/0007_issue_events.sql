-- What happened to an issue or a pull request, for as long as it is there; the log of events is dropped month by month. What it was about
-- is kept as it was then: labels, milestones and titles change.
create table issue_events (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  issue_id bigint not null references issues on delete cascade,
  actor_id bigint references accounts on delete set null,
  event text not null,
  assignee_id bigint references accounts on delete set null,
  label_name text,
  label_color text,
  milestone_title text,
  renamed_from text,
  renamed_to text,
  requested_reviewer_id bigint references accounts on delete set null,
  requested_team_id bigint references teams on delete set null,
  state_reason text,
  lock_reason text,
  commit_id text,
  created_at timestamptz not null
);
create index issue_events_issue on issue_events (issue_id, id);
create index issue_events_repo on issue_events (repo_id, id);
create index issue_events_actor on issue_events (actor_id) where actor_id is not null;
create index issue_events_assignee on issue_events (assignee_id) where assignee_id is not null;
create index issue_events_requested_reviewer on issue_events (requested_reviewer_id) where requested_reviewer_id is not null;
create index issue_events_requested_team on issue_events (requested_team_id) where requested_team_id is not null;
