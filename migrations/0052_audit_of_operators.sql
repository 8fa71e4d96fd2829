-- Acts at the command line have no account. `via` says where they came from, and `actor_login` names the operating system's user.
alter table audit_entries add via text;

-- `belfry admin audit` and the API filter by actor and by time.
create index audit_entries_actor_login on audit_entries (lower(actor_login), id);
create index audit_entries_at on audit_entries (at, id);
