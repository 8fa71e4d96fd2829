-- Numbers of issues, and of milestones, go up by one in each repository: the next is taken from here, in the transaction that uses it.
alter table repositories
  add column last_issue_number integer not null default 0,
  add column last_milestone_number integer not null default 0;

create table milestones (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  number integer not null,
  creator_id bigint references accounts on delete set null,
  title text not null,
  description text,
  state text not null default 'open' check (state in ('open', 'closed')),
  open_issues integer not null default 0,
  closed_issues integer not null default 0,
  due_on timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  unique (repo_id, number),
  unique (repo_id, title)
);
create index milestones_creator on milestones (creator_id);

create table labels (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  name text not null,
  color text not null,
  description text
);
create unique index labels_name on labels (repo_id, lower(name));

-- Whatever is talked about under a number. What people wrote stays when their account goes.
create table issues (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  number integer not null,
  author_id bigint references accounts on delete set null,
  title text not null,
  body text,
  state text not null default 'open' check (state in ('open', 'closed')),
  state_reason text check (state_reason in ('completed', 'not_planned', 'duplicate', 'reopened')),
  locked boolean not null default false,
  lock_reason text check (lock_reason in ('off-topic', 'too heated', 'resolved', 'spam')),
  milestone_id bigint references milestones on delete set null,
  comments_count integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  closed_by_id bigint references accounts on delete set null,
  unique (repo_id, number)
);
create index issues_open on issues (repo_id, number) where state = 'open';
create index issues_updated on issues (repo_id, updated_at, number);
create index issues_comments on issues (repo_id, comments_count, number);
create index issues_author on issues (author_id, repo_id, number);
create index issues_closed_by on issues (closed_by_id) where closed_by_id is not null;
create index issues_milestone on issues (milestone_id, number) where milestone_id is not null;

create table issue_assignees (
  issue_id bigint not null references issues on delete cascade,
  user_id bigint not null references accounts on delete cascade,
  assigned_at timestamptz not null,
  primary key (issue_id, user_id)
);
create index issue_assignees_user on issue_assignees (user_id, issue_id);

create table issue_labels (
  issue_id bigint not null references issues on delete cascade,
  label_id bigint not null references labels on delete cascade,
  primary key (issue_id, label_id)
);
create index issue_labels_label on issue_labels (label_id, issue_id);

create table comments (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  issue_id bigint not null references issues on delete cascade,
  author_id bigint references accounts on delete set null,
  body text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index comments_issue on comments (issue_id, id);
create index comments_repo on comments (repo_id, id);
create index comments_updated on comments (repo_id, updated_at, id);
create index comments_author on comments (author_id);

-- Counts follow from rows, as those of stars do.
create function count_issues() returns trigger language plpgsql as $$
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
$$;
create trigger count_new_issues after insert on issues referencing new table as changed
  for each statement execute function count_issues();
create trigger count_old_issues after delete on issues referencing old table as changed
  for each statement execute function count_issues();

create function recount_issues() returns trigger language plpgsql as $$
begin
  update repositories r set open_issues_count = open_issues_count + total
  from (
    select repo_id, sum(change) as total
    from (select repo_id, 1 as change from after where state = 'open'
      union all select repo_id, -1 from before where state = 'open') changes
    group by repo_id having sum(change) <> 0
  ) c where r.id = c.repo_id;
  update milestones m set open_issues = open_issues + open, closed_issues = closed_issues + closed
  from (
    select milestone_id, sum(open) as open, sum(closed) as closed
    from (select milestone_id, (state = 'open')::integer as open, (state = 'closed')::integer as closed from after
      union all select milestone_id, -(state = 'open')::integer, -(state = 'closed')::integer from before) changes
    where milestone_id is not null group by milestone_id having sum(open) <> 0 or sum(closed) <> 0
  ) c where m.id = c.milestone_id;
  return null;
end
$$;
create trigger recount_issues after update on issues referencing old table as before new table as after
  for each statement execute function recount_issues();

create function count_comments() returns trigger language plpgsql as $$
begin
  update issues i set comments_count = comments_count + case tg_op when 'INSERT' then total else -total end
  from (select issue_id, count(*) as total from changed group by issue_id) c where i.id = c.issue_id;
  return null;
end
$$;
create trigger count_new_comments after insert on comments referencing new table as changed
  for each statement execute function count_comments();
create trigger count_old_comments after delete on comments referencing old table as changed
  for each statement execute function count_comments();

-- An issue goes with its repository only, so that its own events need not be asked about.
create or replace function mention_shown(kind text, payload jsonb, viewer bigint, token bigint) returns boolean language plpgsql stable as $$
begin
  return case kind
    when 'ForkEvent' then exists (
      select from repositories f where f.id = (payload->>'forkee_id')::bigint
        and (not f.private or (access_by_name(viewer, f) > 0 and (token is null or token_reaches(token, f)))))
    when 'MemberEvent' then exists (select from accounts where id = (payload->>'member_id')::bigint)
    when 'ReleaseEvent' then exists (select from releases where id = (payload->>'release_id')::bigint and not draft)
    when 'IssueCommentEvent' then exists (select from comments where id = (payload->>'comment_id')::bigint)
    else true end;
end
$$;
