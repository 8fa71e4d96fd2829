-- The date that clients are sent for an answer is exact: last_modified belongs to one version of it. first_at is when the answer was first asked for.
alter table dated_answers add last_modified timestamptz, add first_at timestamptz;
update dated_answers set last_modified = date_trunc('second', changed_at), first_at = changed_at;
alter table dated_answers alter last_modified set not null, alter first_at set not null;
