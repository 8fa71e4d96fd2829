-- A repository that is offered to another account. It changes hands when the receiver accepts.
create table transfers (
  id bigint generated always as identity primary key,
  -- One offer per repository: a new one replaces the one before.
  repo_id bigint not null unique references repositories on delete cascade,
  receiver_id bigint not null references accounts on delete cascade,
  requester_id bigint not null references accounts on delete cascade,
  -- Null: the repository keeps its name.
  new_name text,
  created_at timestamptz not null
);
create index transfers_receiver on transfers (receiver_id);
create index transfers_requester on transfers (requester_id);

-- Invitations that were accepted. They stay readable for the invited person, because a notification leads to them.
create table accepted_invitations (
  id bigint primary key,
  repo_id bigint not null references repositories on delete cascade,
  invitee_id bigint not null references accounts on delete cascade,
  inviter_id bigint not null references accounts on delete cascade,
  access smallint not null check (access between 1 and 5),
  created_at timestamptz not null,
  accepted_at timestamptz not null
);
create index accepted_invitations_repo on accepted_invitations (repo_id);
create index accepted_invitations_invitee on accepted_invitations (invitee_id);
create index accepted_invitations_inviter on accepted_invitations (inviter_id);

alter table subjects drop constraint subjects_type_check;
alter table subjects add constraint subjects_type_check check (type in (
  'Issue', 'PullRequest', 'Commit', 'Release', 'RepositoryInvitation', 'RepositoryImport', 'RepositoryTransfer'));
alter table subjects add column transfer_id bigint;
create unique index subjects_transfer on subjects (transfer_id) where transfer_id is not null;

-- Invitations that were accepted before this migration: the notification says who was invited by whom.
insert into accepted_invitations (id, repo_id, invitee_id, inviter_id, access, created_at, accepted_at)
  select distinct on (s.invitation_id) s.invitation_id, s.repo_id, t.user_id, n.actor_id, c.access, n.created_at, c.created_at
  from subjects s
    join threads t on t.subject_id = s.id
    join notices n on n.subject_id = s.id
    join accounts inviter on inviter.id = n.actor_id
    join collaborators c on c.repo_id = s.repo_id and c.user_id = t.user_id
  where s.invitation_id is not null and not exists (select from invitations i where i.id = s.invitation_id)
  order by s.invitation_id, n.id;
-- The others ended some other way: their notifications lead nowhere.
delete from subjects s where s.invitation_id is not null
  and not exists (select from invitations i where i.id = s.invitation_id)
  and not exists (select from accepted_invitations a where a.id = s.invitation_id);

-- The reason `invitation` is given on acceptance.
update threads t set reason = 'subscribed', reasons = array_replace(t.reasons, 'invitation', 'subscribed')
  from subjects s join invitations i on i.id = s.invitation_id where t.subject_id = s.id;
update thread_subscriptions t set reason = 'subscribed'
  from subjects s join invitations i on i.id = s.invitation_id where t.subject_id = s.id and t.reason = 'invitation';

-- An invitation or a transfer that ends, in any way, ends its notification too; accepted invitations are kept above.
create function forget_invitation_subjects() returns trigger language plpgsql as $$
begin
  delete from subjects s using gone
  where s.invitation_id = gone.id and not exists (select from accepted_invitations a where a.id = gone.id);
  return null;
end
$$;
create trigger forget_invitation_subjects after delete on invitations referencing old table as gone
  for each statement execute function forget_invitation_subjects();

create function forget_transfer_subjects() returns trigger language plpgsql as $$
begin
  delete from subjects s using gone where s.transfer_id = gone.id;
  return null;
end
$$;
create trigger forget_transfer_subjects after delete on transfers referencing old table as gone
  for each statement execute function forget_transfer_subjects();
