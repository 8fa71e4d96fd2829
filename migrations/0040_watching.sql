-- Watching by kind: the types of subjects that a watcher is notified of; null for all of them. A mention and taking part notify regardless.
alter table subscriptions add kinds text[]
  check (cardinality(kinds) > 0 and kinds <@ array['Issue', 'PullRequest', 'Release', 'Commit'] and not (ignored and kinds is not null));

-- Whether a watcher is notified of subjects of this type. Imports are no kind that can be chosen: every watcher is notified of them. The planner
-- inlines it, so it costs no call.
create function watches(watcher subscriptions, subject_type text) returns boolean language sql immutable as $$
  select not watcher.ignored and (watcher.kinds is null or subject_type = any(watcher.kinds) or subject_type = 'RepositoryImport')
$$;

-- As before, and by kind.
create or replace function fan_out(
  at timestamptz, event notification_events, everyone boolean, own boolean, concerns notification_reason,
  users text[], team_orgs text[], team_slugs text[]
) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  place record;
  -- Users whom the event addresses directly, each with the strongest reason, and those of them who are notified.
  addressed bigint[] := '{}';
  addressed_reasons notification_reason[];
  notified bigint[];
  notified_reasons notification_reason[];
begin
  select r.id as repo_id, r.owner_id, s.type, not r.private or s.invitation_id is not null or s.transfer_id is not null as open,
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
        and (a.reason = 'mention' or coalesce(s.state, 'subscribed') = 'subscribed' or (s.state = 'muted' and watches(w, place.type)))
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
      where everyone and w.repo_id = place.repo_id and watches(w, place.type)
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
