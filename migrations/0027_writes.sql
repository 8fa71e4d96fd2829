-- Notifies users of one stored event: finds the recipients and their reasons, subscribes those it addresses, and updates their threads.
-- `everyone`, `own` and `concerns` are the rule of the act, see noticeRules in acts.ts; the arrays are the mentions in its text. A function,
-- because an act with a small audience calls it in its own transaction, and the fan-out job calls it for all others.
create function fan_out(
  at timestamptz, event notification_events, everyone boolean, own boolean, concerns notification_reason,
  users text[], team_orgs text[], team_slugs text[]
) returns void language plpgsql as $$
declare
  place record;
  -- Users whom the event addresses directly, each with the strongest reason, and those of them who are notified.
  addressed bigint[] := '{}';
  addressed_reasons notification_reason[];
  notified bigint[];
  notified_reasons notification_reason[];
begin
  select r.id as repo_id, r.owner_id, not r.private or s.invitation_id is not null or s.transfer_id is not null as open,
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
        and (a.reason = 'mention' or coalesce(s.state, 'subscribed') = 'subscribed' or (s.state = 'muted' and w.user_id is not null))
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
      where everyone and w.repo_id = place.repo_id and not w.ignored
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
$$;

-- Notifies users of several events in the transaction of the act. False, and nothing happens, if another transaction holds the threads: an
-- act must not fail or wait for seconds because a user marks thousands of threads as read.
create function fan_out_now(at timestamptz, stored notification_events[], notices jsonb) returns boolean
language plpgsql set lock_timeout = '100ms' as $$
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
$$;

-- Stores notices of one subject and the participants they add. If `direct_at` is given and the audience is small, it notifies users too;
-- otherwise it enqueues the fan-out job, which costs more than all the rest. Transactions on one subject wait at its row, which keeps their order.
-- `subject` has the `id` of a subject or, for an issue, `issue_id`, `type`, and `latest_type` and `latest_id` of a new latest comment.
create function store_notices(at timestamptz, actor bigint, repo bigint, subject jsonb, notices jsonb, participants jsonb, direct_at timestamptz)
returns void language plpgsql as $$
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
    perform graphile_worker.add_job('tell', json_build_object('subject_id', subject_key), job_key := 'tell ' || subject_key);
  end if;
end
$$;

-- Publishes acts of one user in one repository, see activity/publish.ts. Returns the hooks that subscribe to one of `webhooks`. Payloads for
-- hooks take a while to compose; because a client that polls by `since` must not have polled between the time of its threads and the commit,
-- users are then notified by the job.
create function publish_acts(
  at timestamptz, actor bigint, repo bigint, events jsonb, subject jsonb, notices jsonb, participants jsonb,
  direct_at timestamptz, webhooks text[]
) returns setof hooks language plpgsql as $$
begin
  if events is not null then
    perform record_events(at, actor, repo, events);
  end if;
  if webhooks is not null then
    return query
      select h.* from hooks h where h.repo_id = repo and h.active and h.deleted_at is null and h.events && webhooks
      union all
      select h.* from repositories r join hooks h on h.org_id = r.owner_id
      where r.id = repo and h.active and h.deleted_at is null and h.events && webhooks;
    if found then
      direct_at := null;
    end if;
  end if;
  if notices is not null then
    perform store_notices(at, actor, repo, subject, notices, participants, direct_at);
  end if;
end
$$;

-- A new comment counts and makes its issue newer in one update, because both columns are indexed: an update writes to every index.
create or replace function count_comments() returns trigger language plpgsql as $$
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
$$;

-- For each row, because a condition on the row costs nothing, and a table of changed rows does: most updates of an issue are due to comments.
drop trigger recount_issues on issues;
drop function recount_issues();

create function recount_issue() returns trigger language plpgsql as $$
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
$$;
create trigger recount_issue after update on issues for each row
  when (old.state <> new.state or old.milestone_id is distinct from new.milestone_id) execute function recount_issue();
