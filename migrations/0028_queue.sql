-- Adds a job, see `enqueue` in platform/queue.ts. With custom plans, add_job is planned anew at each call, which takes three quarters of its
-- time. If a worker takes the job with this key at the same moment, add_job neither changes it nor adds another: the second call does.
create function enqueue_job(task text, payload json, key text default null, run_at timestamptz default null, mode text default 'replace')
returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  job record;
begin
  loop
    select * into job from graphile_worker.add_job(task, payload, job_key := key, run_at := run_at, job_key_mode := mode);
    exit when job.id is not null;
  end loop;
end
$$;

-- Statements that take arrays have generic plans too: the planner prefers a custom plan because it sees how short the arrays are.
alter function fan_out(timestamptz, notification_events, boolean, boolean, notification_reason, text[], text[], text[])
  set plan_cache_mode = force_generic_plan;

-- Stores notices of one subject and the participants they add. If `direct_at` is given and the audience is small, it notifies users too;
-- otherwise it enqueues the fan-out job, which costs more than eleven threads. Transactions on one subject wait at its row, which keeps their order.
-- `subject` has the `id` of a subject or, for an issue, `issue_id`, `type`, and `latest_type` and `latest_id` of a new latest comment.
create or replace function store_notices(at timestamptz, actor bigint, repo bigint, subject jsonb, notices jsonb, participants jsonb, direct_at timestamptz)
returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
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
$$;
