-- What happened. Partitioned by month, so that forgetting is dropping a table. Rows name their actor and repository by id only:
-- a timeline shows what those are now, and nothing of what is gone.
create table events (
  id bigint generated always as identity,
  -- Where the transaction stands among all: ids are not given in the order in which transactions end, see log_horizon.
  position bigint not null,
  type text not null,
  actor_id bigint not null,
  repo_id bigint not null,
  -- Whether everyone could see it when it happened. What was private stays so, also when its repository is published.
  public boolean not null,
  payload jsonb not null,
  created_at timestamptz not null,
  primary key (created_at, id)
) partition by range (created_at);
create index events_public on events (created_at, id) where public;
create index events_repo on events (repo_id, created_at, id);
create index events_actor on events (actor_id, created_at, id);
create index events_position on events (position, id);
-- Ids grow with the table, so ranges of pages tell where one is.
create index events_id on events using brin (id) with (pages_per_range = 16);

-- Transaction ids begin anew in a database that was restored from a dump: positions go on from here.
create table log_base (base bigint not null);
insert into log_base values (0);

create function log_position() returns bigint language sql volatile as $$
  select pg_current_xact_id()::text::bigint + base from log_base
$$;

-- Every transaction that stands before it has ended: nothing will ever appear there any more.
create function log_horizon() returns bigint language sql stable as $$
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + base from log_base
$$;

-- Appends acts of one person in one repository; `acts` is an array of {type, payload}.
create function record_events(at timestamptz, actor bigint, repo bigint, acts jsonb) returns setof bigint language plpgsql as $$
declare
  month timestamptz := date_trunc('month', at, 'UTC');
  partition text := 'events_' || to_char(month at time zone 'UTC', 'YYYY_MM');
begin
  if to_regclass(partition) is null then
    -- Two first acts of a month take turns.
    perform pg_advisory_xact_lock(hashtext('events partition'));
    execute format('create table if not exists %I partition of events for values from (%L) to (%L)',
      partition, month, date_trunc('month', month + interval '32 days', 'UTC'));
  end if;
  return query
    insert into events (position, type, actor_id, repo_id, public, payload, created_at)
    select log_position(), act->>'type', actor, r.id, not r.private, act->'payload', at
    from jsonb_array_elements(acts) with ordinality as listed (act, place) join repositories r on r.id = repo
    order by place
    returning id;
end
$$;

create function drop_events(partition text) returns void language plpgsql as $$
begin
  execute format('drop table %I', partition);
end
$$;

-- Branches and tags as the log knows them. Disk is the truth; what differs from it is a push that is not yet recorded.
create table refs (
  repo_id bigint not null references repositories on delete cascade,
  name text not null,
  sha text not null,
  primary key (repo_id, name)
);

-- Pushes that have begun and are not yet recorded: who asked for which refs to move, as [{ref, before, after}].
create table pushes (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  pusher_id bigint not null references accounts on delete cascade,
  commands jsonb not null,
  started_at timestamptz not null
);
create index pushes_repo on pushes (repo_id);

create table releases (
  id bigint generated always as identity primary key,
  repo_id bigint not null references repositories on delete cascade,
  author_id bigint not null references accounts on delete cascade,
  tag_name text not null,
  target_commitish text not null,
  name text,
  body text,
  draft boolean not null,
  prerelease boolean not null,
  created_at timestamptz not null,
  published_at timestamptz
);
create unique index releases_tag on releases (repo_id, tag_name) where not draft;
create index releases_repo on releases (repo_id, created_at, id);
create index releases_author on releases (author_id);

-- Who watches a repository, or does not want to hear of it at all.
create table subscriptions (
  user_id bigint not null references accounts on delete cascade,
  repo_id bigint not null references repositories on delete cascade,
  ignored boolean not null default false,
  created_at timestamptz not null,
  primary key (user_id, repo_id)
);
create index subscriptions_repo on subscriptions (repo_id, created_at, user_id);

-- Both lists of stars are read in the order of their index.
drop index stars_repo;
create index stars_repo on stars (repo_id, starred_at, user_id);
create index stars_user on stars (user_id, starred_at, repo_id);

-- Keys to a person's private feeds, each with a name, to be revoked one by one.
create table feed_keys (
  id bigint generated always as identity primary key,
  user_id bigint not null references accounts on delete cascade,
  name text not null,
  digest bytea not null unique,
  last_eight text not null,
  last_used_at timestamptz,
  created_at timestamptz not null
);
create index feed_keys_user on feed_keys (user_id);

-- Counts follow from rows, whichever way those come and go; once for a statement, since one act may bring thousands.
create function count_stars() returns trigger language plpgsql as $$
begin
  update repositories r set stargazers_count = stargazers_count + case tg_op when 'INSERT' then total else -total end
  from (select repo_id, count(*) as total from changed group by repo_id) c where r.id = c.repo_id;
  return null;
end
$$;
create trigger count_new_stars after insert on stars referencing new table as changed
  for each statement execute function count_stars();
create trigger count_old_stars after delete on stars referencing old table as changed
  for each statement execute function count_stars();

create function count_subscribers() returns trigger language plpgsql as $$
begin
  update repositories r set subscribers_count = subscribers_count + case tg_op when 'INSERT' then total else -total end
  from (select repo_id, count(*) as total from changed where not ignored group by repo_id) c where r.id = c.repo_id;
  return null;
end
$$;
create trigger count_new_subscribers after insert on subscriptions referencing new table as changed
  for each statement execute function count_subscribers();
create trigger count_old_subscribers after delete on subscriptions referencing old table as changed
  for each statement execute function count_subscribers();

create function recount_subscribers() returns trigger language plpgsql as $$
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
$$;
create trigger recount_subscribers after update on subscriptions referencing old table as before new table as after
  for each statement execute function recount_subscribers();

update repositories r set stargazers_count = (select count(*) from stars where repo_id = r.id), subscribers_count = 0;
insert into subscriptions (user_id, repo_id, created_at)
  select r.owner_id, r.id, r.created_at from repositories r join accounts o on o.id = r.owner_id where o.type = 'User';

-- Access that a person has by name, beyond what everyone has to a public repository; 0 when none.
create function access_by_name(viewer bigint, repo repositories) returns integer language sql stable as $$
  select coalesce(greatest(
    case when repo.owner_id = viewer then 5 end,
    (select case m.role when 'admin' then 5 else o.member_access end
       from memberships m join accounts o on o.id = m.org_id
      where m.org_id = repo.owner_id and m.user_id = viewer),
    (select max(t.access) from team_repositories t join team_members m using (team_id)
      where t.repo_id = repo.id and m.user_id = viewer),
    (select c.access from collaborators c where c.repo_id = repo.id and c.user_id = viewer)
  ), 0)
$$;

create or replace function access_of(viewer bigint, repo repositories) returns integer language sql stable as $$
  select greatest(case when repo.private then 0 else 1 end, access_by_name(viewer, repo))
$$;

-- Whether what an event mentions is still there, and for this viewer to see. Not inlined, and asked of few: inlined, planning a timeline
-- takes longer than reading it.
create function mention_shown(kind text, payload jsonb, viewer bigint, token bigint) returns boolean language plpgsql stable as $$
begin
  return case kind
    when 'ForkEvent' then exists (
      select from repositories f where f.id = (payload->>'forkee_id')::bigint
        and (not f.private or (access_by_name(viewer, f) > 0 and (token is null or token_reaches(token, f)))))
    when 'MemberEvent' then exists (select from accounts where id = (payload->>'member_id')::bigint)
    when 'ReleaseEvent' then exists (select from releases where id = (payload->>'release_id')::bigint and not draft)
    else true end;
end
$$;
