-- The trace that the current transaction belongs to (W3C Trace Context); null unless traces are on. Set when a transaction begins.
create function current_traceparent() returns text language sql stable parallel safe as $$
  select nullif(current_setting('belfry.traceparent', true), '')
$$;

-- The trace of the act, so that the process that notifies or sends continues it.
alter table notification_events add column traceparent text;
alter table notification_events alter column traceparent set default current_traceparent();
alter table pending_deliveries add column traceparent text;
alter table pending_deliveries alter column traceparent set default current_traceparent();

create or replace function enqueue_job(task text, payload json, key text default null, run_at timestamptz default null, mode text default 'replace')
returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
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
$$;
