-- The webhooks of apps, and tokens by which apps act for users.

-- The installation that a payload is for. Deliveries of an app's hook show it.
alter table payloads add column installation_id bigint;

create or replace function publish_acts(
  at timestamptz, actor bigint, repo bigint, events jsonb, subject jsonb, notices jsonb, participants jsonb, direct_at timestamptz,
  webhooks text[]) returns setof hooks language plpgsql as $$
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
      where r.id = repo and i.suspended_at is null and h.active and h.deleted_at is null and h.events && webhooks
        and (i.all_repositories or exists (
          select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id));
    if found then
      direct_at := null;
    end if;
  end if;
  if notices is not null then
    perform store_notices(at, actor, repo, subject, notices, participants, direct_at);
  end if;
end
$$;

drop function store_deliveries(timestamptz, bigint, text[], text[], text[], integer[], bigint[], double precision[], bigint[]);
create function store_deliveries(
  at timestamptz, repo bigint, events text[], actions text[], bodies text[], installations bigint[], payload_indexes integer[],
  hook_ids bigint[], waits double precision[], senders bigint[])
  returns table (id bigint, payload_id bigint, hook_id bigint, guid uuid, sender bigint) language plpgsql
  set plan_cache_mode to 'force_generic_plan' as $$
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
$$;

-- A refresh token gives a new token of a user, and another refresh token, once.
create table refresh_tokens (
  digest bytea primary key,
  application_id bigint not null references applications on delete cascade,
  user_id bigint not null references accounts on delete cascade,
  token_id bigint references tokens on delete set null,
  expires_at timestamptz not null
);
create index refresh_tokens_grant on refresh_tokens (application_id, user_id);
create index refresh_tokens_token on refresh_tokens (token_id) where token_id is not null;
create index refresh_tokens_user on refresh_tokens (user_id);
create index refresh_tokens_expiry on refresh_tokens (expires_at);
