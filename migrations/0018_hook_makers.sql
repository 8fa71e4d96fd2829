-- A webhook sends only while the person who is responsible for it, `creator_id`, may administer its repository or organization. When that
-- ends, it is paused: `active` becomes false, with the reason. `paused_at` is set when the owners are notified.
alter table hooks add column paused_reason text check (paused_reason in ('maker_lost_access', 'maker_suspended', 'maker_deleted'));
alter table hooks add column paused_at timestamptz;

alter table subjects drop constraint subjects_type_check;
alter table subjects add constraint subjects_type_check check (type in (
  'Issue', 'PullRequest', 'Commit', 'Release', 'RepositoryInvitation', 'RepositoryImport', 'RepositoryTransfer', 'Webhook'));
alter table subjects add column hook_id bigint references hooks on delete cascade;
create unique index subjects_hook on subjects (hook_id) where hook_id is not null;

-- Pauses the webhooks of those among `makers` who may not have them any more.
create function pause_hooks_of(makers bigint[]) returns void language plpgsql as $$
declare
  paused bigint;
begin
  for paused in
    update hooks h set active = false, paused_at = null,
      paused_reason = case when a.suspended_at is null then 'maker_lost_access' else 'maker_suspended' end
    from accounts a
    where h.creator_id = any(makers) and a.id = h.creator_id and h.active and h.deleted_at is null
      and (a.suspended_at is not null
        or (h.repo_id is not null and not exists (
          select from repositories r where r.id = h.repo_id and access_by_name(a.id, r) >= 5))
        or (h.org_id is not null and not exists (
          select from memberships m where m.org_id = h.org_id and m.user_id = a.id and m.role = 'admin')))
    returning h.id
  loop
    perform graphile_worker.add_job('hook_paused', json_build_object('hook_id', paused));
  end loop;
end
$$;

-- A user can lose access in many ways. Triggers catch all of them, whichever code removes it.
create function pause_hooks_of_gone_users() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of((select array_agg(distinct user_id) from gone));
  return null;
end
$$;
create trigger pause_hooks after delete on collaborators referencing old table as gone
  for each statement execute function pause_hooks_of_gone_users();
create trigger pause_hooks after delete on memberships referencing old table as gone
  for each statement execute function pause_hooks_of_gone_users();
create trigger pause_hooks after delete on team_members referencing old table as gone
  for each statement execute function pause_hooks_of_gone_users();

create function pause_hooks_of_gone_teams() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of((select array_agg(distinct m.user_id) from gone join team_members m using (team_id)));
  return null;
end
$$;
create trigger pause_hooks after delete on team_repositories referencing old table as gone
  for each statement execute function pause_hooks_of_gone_teams();

create function pause_hooks_of_user() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of(array[new.user_id]);
  return null;
end
$$;
create trigger pause_hooks_of_lowered after update of access on collaborators for each row
  when (new.access < old.access) execute function pause_hooks_of_user();
create trigger pause_hooks_of_lowered after update of role on memberships for each row
  when (new.role <> old.role) execute function pause_hooks_of_user();

create function pause_hooks_of_team() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of(array(select user_id from team_members where team_id = new.team_id));
  return null;
end
$$;
create trigger pause_hooks_of_lowered after update of access on team_repositories for each row
  when (new.access < old.access) execute function pause_hooks_of_team();

create function pause_hooks_of_account() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of(array(select new.id union all select user_id from memberships where org_id = new.id));
  return null;
end
$$;
create trigger pause_hooks after update of suspended_at, member_access on accounts for each row
  when ((old.suspended_at is null and new.suspended_at is not null) or new.member_access < old.member_access)
  execute function pause_hooks_of_account();

create function pause_hooks_of_repository() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of(array(select creator_id from hooks where repo_id = new.id));
  return null;
end
$$;
create trigger pause_hooks after update of owner_id on repositories for each row
  when (new.owner_id <> old.owner_id) execute function pause_hooks_of_repository();

-- Deleting an account sets creator_id of its webhooks to null, which pauses them.
create function pause_hook_of_nobody() returns trigger language plpgsql as $$
begin
  if new.active and new.deleted_at is null then
    new.active := false;
    new.paused_at := null;
    new.paused_reason := 'maker_deleted';
    perform graphile_worker.add_job('hook_paused', json_build_object('hook_id', new.id));
  end if;
  return new;
end
$$;
create trigger pause_hook_of_nobody before update of creator_id on hooks for each row
  when (old.creator_id is not null and new.creator_id is null) execute function pause_hook_of_nobody();

-- Webhooks whose maker lost access before this migration. One without a maker is not paused.
select pause_hooks_of(array(select distinct creator_id from hooks where creator_id is not null));
