-- Who wants to hear of what happens in a repository, or in all of an organization's. One that is deleted stays until its last word is
-- sent: it is told of its own end.
create table hooks (
  id bigint generated always as identity primary key,
  repo_id bigint references repositories on delete set null,
  org_id bigint references accounts on delete set null,
  -- The repository's or organization's id, which deliveries name also when that is gone.
  target_id bigint not null,
  target_type text not null check (target_type in ('repository', 'organization')),
  creator_id bigint references accounts on delete set null,
  active boolean not null,
  events text[] not null,
  url text not null,
  content_type text not null check (content_type in ('json', 'form')),
  insecure_ssl boolean not null,
  -- Sealed for this very hook, see vault.ts. The former one goes on signing for a while after it was replaced.
  secret bytea,
  former_secret bytea,
  former_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- What the last delivery came to.
  last_code integer,
  last_status text,
  last_message text,
  last_delivered_at timestamptz,
  -- How many failed in a row because the receiver was not well, and until when it is left in peace for that.
  failures integer not null default 0,
  throttled_until timestamptz
) with (fillfactor = 70);
create index hooks_repo on hooks (repo_id);
create index hooks_org on hooks (org_id);
create index hooks_creator on hooks (creator_id);
create index hooks_deleted on hooks (deleted_at) where deleted_at is not null;

-- Payloads and deliveries are kept by day, and forgotten by dropping a table. Their ids begin with the day, so that an id tells where it
-- is; 36 bits of it are a number of their own.
create sequence delivery_numbers;

create function delivery_day(at timestamptz) returns bigint language sql immutable parallel safe as $$
  select floor(extract(epoch from at) / 86400)::bigint - 18262
$$;

create function delivery_id(at timestamptz) returns bigint language sql volatile as $$
  select (delivery_day(at) << 36) + (nextval('delivery_numbers') & ((1::bigint << 36) - 1))
$$;

-- What happened, as receivers are told of it: made once, whoever hears it. Addresses of our own are filled in when it is sent.
create table payloads (
  id bigint not null,
  -- Null for what happens in an organization, and not in one of its repositories.
  repo_id bigint,
  event text not null,
  action text,
  -- Null when it is too large to be sent.
  body text,
  created_at timestamptz not null,
  primary key (id)
) partition by range (id);
create index payloads_repo on payloads (repo_id, id);

-- Deliveries whose outcome is recorded.
create table deliveries (
  id bigint not null,
  hook_id bigint not null,
  payload_id bigint not null,
  repo_id bigint,
  guid uuid not null,
  event text not null,
  action text,
  redelivery boolean not null,
  delivered_at timestamptz not null,
  -- In seconds.
  duration double precision not null,
  status text not null,
  status_code integer not null,
  throttled_at timestamptz,
  url text not null,
  -- What of the request's headers does not follow from the rest.
  request_headers json not null,
  response_headers json,
  response_body text,
  primary key (id)
) partition by range (id);
create index deliveries_hook on deliveries (hook_id, id);
create index deliveries_failed on deliveries (hook_id, id) where status_code >= 400;

-- Deliveries that have no outcome yet. Written with the act, and gone in the statement that records the outcome.
create table unsent (
  id bigint primary key,
  -- Hooks are deleted when nothing waits for them: a foreign key would only check that for each row.
  hook_id bigint not null,
  payload_id bigint not null,
  repo_id bigint,
  guid uuid not null,
  event text not null,
  action text,
  redelivery boolean not null,
  -- How often it was tried before.
  attempts integer not null default 0,
  created_at timestamptz not null,
  ready_at timestamptz not null,
  throttled_at timestamptz,
  -- Which sender has it in hand.
  sender bigint
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0);
-- What is in hand from the beginning, as most are, is not looked for.
create index unsent_ready on unsent (ready_at, id) where sender is null;
create index unsent_hook on unsent (hook_id, id);

-- Those who send. Each holds a lock by its number as long as it lives; what a dead one had in hand is given back.
create table senders (number bigint generated always as identity primary key);

-- Both tables of a day are made before its first row.
create function open_delivery_day(day bigint) returns void language plpgsql as $$
begin
  if to_regclass('deliveries_' || day) is null then
    -- Two first acts of a day take turns.
    perform pg_advisory_xact_lock(hashtext('delivery day'));
    execute format('create table if not exists %I partition of payloads for values from (%s) to (%s)', 'payloads_' || day, day << 36, (day + 1) << 36);
    execute format('create table if not exists %I partition of deliveries for values from (%s) to (%s)', 'deliveries_' || day, day << 36, (day + 1) << 36);
  end if;
end
$$;

create function drop_delivery_day(day bigint) returns void language plpgsql as $$
begin
  execute format('drop table if exists %I, %I', 'payloads_' || day, 'deliveries_' || day);
end
$$;

-- Stores what happened, and a delivery for every hook that listens to it. The three first arrays go together; so do the four last, of
-- which `places` says what each hook hears of, `waits` how many seconds the delivery is left to others than senders, and `hands` which
-- sender has it in hand from the beginning.
create function store_deliveries(at timestamptz, repo bigint, events text[], actions text[], bodies text[], places integer[],
  hook_ids bigint[], waits double precision[], hands bigint[])
returns table (id bigint, payload_id bigint, hook_id bigint, guid uuid, sender bigint) language plpgsql
-- Planned once: how many hooks there are makes no difference.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  perform open_delivery_day(delivery_day(at));
  return query
  with told as materialized (
    select delivery_id(at) as id, event, action, body, place
    from unnest(events, actions, bodies) with ordinality as listed (event, action, body, place)
  ), kept as (
    insert into payloads (id, repo_id, event, action, body, created_at) select id, repo, event, action, body, at from told
  )
  insert into unsent as u (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at, sender)
  select delivery_id(at), hook_id, told.id, repo, gen_random_uuid(), event, action, false, at, at + wait * interval '1 second', hand
  from unnest(places, hook_ids, waits, hands) as listening (place, hook_id, wait, hand) join told using (place)
  returning u.id, u.payload_id, u.hook_id, u.guid, u.sender;
end
$$;

-- A span of what happened that is told again, in the order of the log.
create table replays (
  id bigint generated always as identity primary key,
  hook_id bigint not null references hooks on delete cascade,
  requester_id bigint references accounts on delete set null,
  since timestamptz not null,
  until timestamptz not null,
  events text[] not null,
  status text not null check (status in ('queued', 'running', 'done', 'cancelled')),
  -- How many events of the log there are to tell of, how many were told, and of how many there was nothing left to tell.
  total integer,
  told integer not null default 0,
  passed_over integer not null default 0,
  -- The last of the log that is done with.
  place_at timestamptz not null,
  place bigint not null default 0,
  -- When the next delivery may be sent, so that a receiver is not flooded.
  paced_until timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index replays_hook on replays (hook_id, id);
-- A hook has one at a time.
create unique index replays_open on replays (hook_id) where status in ('queued', 'running');
create index replays_requester on replays (requester_id);
create index replays_finished on replays (finished_at) where finished_at is not null;
