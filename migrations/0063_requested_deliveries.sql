-- A delivery that a user requested while its webhook was inactive (a ping, a test, a redelivery) is sent although it is. All others are
-- sent only while it is active.
alter table pending_deliveries add column requested boolean not null default false;

-- Waiting deliveries of a webhook that becomes inactive are recorded as not sent, whichever code or trigger deactivates it.
create function drop_deliveries_of_hook() returns trigger language plpgsql as $$
begin
  perform graphile_worker.add_job('drop_deliveries', json_build_object('hook_id', new.id));
  return null;
end
$$;
create trigger drop_deliveries after update on hooks for each row
  when (old.active and not new.active) execute function drop_deliveries_of_hook();
