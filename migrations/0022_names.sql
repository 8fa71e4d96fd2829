-- Tables and columns get the names that the documentation of code hosts uses. Functions name tables as text, so they are created again.
alter table unsent rename to pending_deliveries;
alter index unsent_pkey rename to pending_deliveries_pkey;
alter index unsent_hook rename to pending_deliveries_hook;
alter index unsent_ready rename to pending_deliveries_ready;

alter table dated_answers rename to response_validators;
alter index dated_answers_pkey rename to response_validators_pkey;
alter index dated_answers_changed rename to response_validators_changed;

alter table notices rename to notification_events;
alter table notification_events rename column said_type to comment_type;
alter table notification_events rename column said_id to comment_id;
alter table notification_events rename column told_at to notified_at;
alter table notification_events rename constraint notices_pkey to notification_events_pkey;
alter table notification_events rename constraint notices_subject_id_fkey to notification_events_subject_id_fkey;
alter index notices_subject rename to notification_events_subject;
alter index notices_told rename to notification_events_notified;
alter index notices_untold rename to notification_events_pending;

alter table subjects rename to notification_subjects;
alter index subjects_pkey rename to notification_subjects_pkey;
alter index subjects_commit rename to notification_subjects_commit;
alter index subjects_hook rename to notification_subjects_hook;
alter index subjects_import rename to notification_subjects_import;
alter index subjects_invitation rename to notification_subjects_invitation;
alter index subjects_issue rename to notification_subjects_issue;
alter index subjects_release rename to notification_subjects_release;
alter index subjects_repo rename to notification_subjects_repo;
alter index subjects_transfer rename to notification_subjects_transfer;

alter table imports rename column heard_at to heartbeat_at;

create or replace function forget_invitation_subjects() returns trigger language plpgsql as $$
begin
  delete from notification_subjects s using gone
  where s.invitation_id = gone.id and not exists (select from accepted_invitations a where a.id = gone.id);
  return null;
end
$$;

create or replace function forget_transfer_subjects() returns trigger language plpgsql as $$
begin
  delete from notification_subjects s using gone where s.transfer_id = gone.id;
  return null;
end
$$;

-- Stores payloads, and a pending delivery for every hook that subscribes to one. `payload_index` counts from one.
drop function store_deliveries(timestamptz, bigint, text[], text[], text[], integer[], bigint[], float8[], bigint[]);
create function store_deliveries(
  at timestamptz, repo bigint, events text[], actions text[], bodies text[],
  payload_indexes integer[], hook_ids bigint[], waits float8[], senders bigint[])
returns table (id bigint, payload_id bigint, hook_id bigint, guid uuid, sender bigint)
language plpgsql set plan_cache_mode to 'force_generic_plan' as $$
#variable_conflict use_column
begin
  perform open_delivery_day(delivery_day(at));
  return query
  with published as materialized (
    select delivery_id(at) as id, event, action, body, payload_index
    from unnest(events, actions, bodies) with ordinality as listed (event, action, body, payload_index)
  ), stored as (
    insert into payloads (id, repo_id, event, action, body, created_at) select id, repo, event, action, body, at from published
  )
  insert into pending_deliveries as d (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at, sender)
  select delivery_id(at), hook_id, published.id, repo, gen_random_uuid(), event, action, false, at, at + wait * interval '1 second', sender
  from unnest(payload_indexes, hook_ids, waits, senders) as subscribed (payload_index, hook_id, wait, sender)
    join published using (payload_index)
  returning d.id, d.payload_id, d.hook_id, d.guid, d.sender;
end
$$;
