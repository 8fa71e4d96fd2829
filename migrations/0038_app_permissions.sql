-- What apps may do, and what they are sent. Invitations to organizations.

-- The one rule for apps of suspended owners: they cannot authenticate, their tokens do not work, and their hooks get no events.
create function app_is_enabled(app bigint) returns boolean language sql stable as $$
  select exists (
    select from apps p join applications c on c.id = p.application_id join accounts o on o.id = c.owner_id
    where p.id = app and o.suspended_at is null)
$$;

-- An app gets the events that the account has accepted, which may be fewer than the app subscribes to.
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
      where r.id = repo and i.suspended_at is null and h.active and h.deleted_at is null and i.events && webhooks
        and (i.all_repositories or exists (
          select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id))
        and app_is_enabled(i.app_id);
    if found then
      direct_at := null;
    end if;
  end if;
  if notices is not null then
    perform store_notices(at, actor, repo, subject, notices, participants, direct_at);
  end if;
end
$$;

-- Tokens by which apps act for users depend on the permissions of the app.
create trigger touch_update after update on apps
  referencing new table as changed for each statement execute function touch_everything();

-- Members of an organization who may not install an app ask its owners to do it.
create table installation_requests (
  id bigint generated always as identity primary key,
  app_id bigint not null references apps on delete cascade,
  account_id bigint not null references accounts on delete cascade,
  requester_id bigint not null references accounts on delete cascade,
  created_at timestamptz not null,
  unique (app_id, account_id, requester_id)
);
create index installation_requests_account on installation_requests (account_id);
create index installation_requests_requester on installation_requests (requester_id);

-- Open invitations to an organization: of a user, or of an address that no user has yet. One that is older than seven days has failed.
create table organization_invitations (
  id bigint generated always as identity primary key,
  org_id bigint not null references accounts on delete cascade,
  invitee_id bigint references accounts on delete cascade,
  email text,
  role text not null check (role in ('admin', 'member')),
  inviter_id bigint not null references accounts on delete cascade,
  created_at timestamptz not null,
  check (num_nonnulls(invitee_id, email) = 1)
);
create unique index organization_invitations_invitee on organization_invitations (org_id, invitee_id) where invitee_id is not null;
create unique index organization_invitations_email on organization_invitations (org_id, lower(email)) where email is not null;
create index organization_invitations_user on organization_invitations (invitee_id) where invitee_id is not null;
create index organization_invitations_inviter on organization_invitations (inviter_id);

create table organization_invitation_teams (
  invitation_id bigint not null references organization_invitations on delete cascade,
  team_id bigint not null references teams on delete cascade,
  primary key (invitation_id, team_id)
);
create index organization_invitation_teams_team on organization_invitation_teams (team_id);

-- Apps that may push to a protected branch.
alter table protection_actors add column app_id bigint references apps on delete cascade;
alter table protection_actors drop constraint protection_actors_check;
alter table protection_actors add constraint protection_actors_check check (num_nonnulls(user_id, team_id, app_id) = 1);
alter table protection_actors drop constraint protection_actors_protection_id_list_user_id_team_id_key;
alter table protection_actors add constraint protection_actors_key unique nulls not distinct (protection_id, list, user_id, team_id, app_id);
create index protection_actors_app on protection_actors (app_id) where app_id is not null;
