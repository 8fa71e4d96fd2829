-- Attempts that are limited: guesses at secrets, sign-ups, new device codes. A row is one attempt at one subject.
drop table failed_sign_ins;
create table attempts (
  reservation bigint not null,
  subject text not null,
  -- The check is still running. Afterwards the row counts as a failure, or is deleted because the guess was right.
  pending boolean not null,
  made_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (reservation, subject)
);
create index attempts_subject on attempts (subject, expires_at);
create index attempts_expiry on attempts (expires_at);
create sequence attempt_reservations;

-- Reserves one attempt at every subject, or none: 'refused' when a subject has no attempts left, 'busy' when none is left until a running check
-- has ended. One statement under a lock for each subject, so that no burst gets past a limit. A check that has not ended after a minute
-- never will (its process died), and counts as a failure.
create function reserve_attempt(subjects text[], most integer[], span interval, wait_for_check boolean, at timestamptz,
  out outcome text, out reservation bigint, out retry_at timestamptz) language plpgsql as $$
declare
  one text;
begin
  -- Losing the last counts in a power failure is acceptable, waiting for the disk at every sign-in is not.
  perform set_config('synchronous_commit', 'off', true);
  for one in select s from unnest(subjects) s order by s loop
    perform pg_advisory_xact_lock(hashtextextended('attempt ' || one, 0));
  end loop;
  select case when bool_or(c.failed >= c.most) then 'refused' when bool_or(c.held >= c.most) then 'busy' else 'reserved' end,
    max(c.free_at) filter (where c.failed >= c.most)
  into outcome, retry_at
  from (
    select w.most, min(a.expires_at) as free_at, count(a.subject) as held,
      count(a.subject) filter (where not a.pending or a.made_at < at - interval '1 minute') as failed
    from unnest(subjects, most) as w (subject, most) left join attempts a on a.subject = w.subject and a.expires_at > at
    group by w.subject, w.most) c;
  if outcome <> 'reserved' then return; end if;
  delete from attempts a using (
    select e.reservation, e.subject from attempts e where e.expires_at <= at order by e.expires_at limit 20 for update skip locked) old
  where a.reservation = old.reservation and a.subject = old.subject;
  reservation := nextval('attempt_reservations');
  insert into attempts (reservation, subject, pending, made_at, expires_at)
  select reserve_attempt.reservation, s, wait_for_check, at, at + span from unnest(subjects) s;
end $$;

-- Recovery codes have a slow hash, with one salt for all codes of a person. Null: the digests are still those of earlier versions, and the
-- next start hashes them.
alter table two_factor add column recovery_salt bytea;

-- Null: the device named no scopes, and gets all that were granted before.
alter table device_codes alter column scopes drop not null;

-- Any account may name any address, so that trying one does not reveal whether it is taken. An address is verified when the operator
-- made the account with it; then no other account can have it verified. Existing addresses were unique.
alter table accounts
  add column email_verified boolean not null default false,
  add column email_claimed_at timestamptz;
update accounts set email_verified = true, email_claimed_at = created_at where type = 'User' and email is not null;
drop index accounts_email;
create unique index accounts_email on accounts (lower(email)) where type = 'User' and email_verified;
create index accounts_email_claims on accounts (lower(email), email_claimed_at, id) where type = 'User';

-- When the password was last given in this session. Null: not since this column was added, so the next credential asks for it.
alter table sessions add column confirmed_at timestamptz;
