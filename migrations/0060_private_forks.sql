-- A fork of a private repository follows its parent: who cannot read the parent cannot read the fork. A fork without a parent is readable for no one.
alter table repositories add forked_from_private boolean not null default false;
-- Whether a private repository may be forked: by the repository's setting and by its organization's.
alter table repositories add allow_forking boolean not null default true;
alter table accounts add members_can_fork_private_repositories boolean not null default true;

update repositories f set forked_from_private = true from repositories p where p.id = f.parent_id and p.private and f.private;
create index repositories_forked_from_private on repositories (owner_id) where forked_from_private;

-- Ends the relation of a fork to its parent. The fork and the forks of it become a network of their own.
create function detach_fork(fork bigint) returns void language sql as $$
  with recursive branch (id) as (
    select fork union all select r.id from repositories r join branch b on r.parent_id = b.id)
  update repositories r set network_id = fork, parent_id = case when r.id <> fork then r.parent_id end,
    forked_from_private = r.forked_from_private and r.id <> fork
  from branch where branch.id = r.id
$$;

-- Public forks of a repository that was made private belong to it no longer.
select detach_fork(f.id) from repositories f join repositories p on p.id = f.parent_id where p.private and not f.private;
update repositories set public_forks_count = 0 where private and public_forks_count > 0;

-- Whether an account may read the private parent of a fork. An organization may while one of its owners may.
create function reaches_source(account bigint, parent bigint) returns boolean language plpgsql stable as $$
begin
  return exists (
    select from repositories p where p.id = parent and (access_of(account, p) > 0 or exists (
      select from memberships m where m.org_id = account and m.role = 'admin' and access_of(m.user_id, p) > 0)));
end
$$;

create or replace function access_by_name(viewer bigint, repo repositories) returns integer language sql stable as $$
  select case when repo.forked_from_private and not reaches_source(viewer, repo.parent_id) then 0 else coalesce(greatest(
    case when repo.owner_id = viewer then 5 end,
    (select case m.role when 'admin' then 5 else o.member_access end
       from memberships m join accounts o on o.id = m.org_id
      where m.org_id = repo.owner_id and m.user_id = viewer),
    (select max(t.access) from team_repositories t join team_members m using (team_id)
      where t.repo_id = repo.id and m.user_id = viewer),
    (select c.access from collaborators c where c.repo_id = repo.id and c.user_id = viewer)
  ), 0) end
$$;

-- Whether the owner of a repository may read it. What acts for the owner (apps, hooks of an organization) sees it only then.
create function owner_reaches(repo repositories) returns boolean language sql stable as $$
  select not repo.forked_from_private or reaches_source(repo.owner_id, repo.parent_id)
$$;

-- Apps on an account see its private forks while the account sees their parents, so that account's access concerns other viewers too.
create or replace function touch_access() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(
    select 'a' || user_id from changed
    union select 'w' from repositories r where r.forked_from_private and (r.owner_id in (select user_id from changed)
      or r.owner_id in (select m.org_id from memberships m where m.user_id in (select user_id from changed)))));
  return null;
end
$$;

-- The hooks of private forks pause too: access to the forks follows from access to this repository.
create or replace function pause_hooks_of_repository() returns trigger language plpgsql as $$
begin
  perform pause_hooks_of(array(
    select h.creator_id from hooks h where h.repo_id = new.id
    union select h.creator_id from repositories f join hooks h on h.repo_id = f.id
      where f.network_id = new.network_id and f.forked_from_private));
  return null;
end
$$;
