-- A snoozed thread is done until `snoozed_until`. New activity clears `done`, and with it the snooze; so a thread is snoozed if it is done and has a
-- time. A saved thread is kept when it grows old.
alter table threads add column snoozed_until timestamptz, add column saved boolean not null default false;
create index threads_snoozed on threads (user_id, updated_at, id) where snoozed_until is not null;
create index threads_returning on threads (snoozed_until) where snoozed_until is not null;
create index threads_saved on threads (user_id, updated_at, id) where saved;

-- Filters of the inbox that a user has saved: a view and the text of the filter box.
create table inbox_filters (
  id bigint generated always as identity primary key,
  user_id bigint not null references accounts on delete cascade,
  name text not null,
  view text not null,
  query text not null
);
create unique index inbox_filters_name on inbox_filters (user_id, lower(name));
