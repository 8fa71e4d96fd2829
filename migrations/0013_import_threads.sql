-- Who watches a repository is told when it has been imported.
alter table subjects drop constraint subjects_type_check;
alter table subjects add constraint subjects_type_check
  check (type in ('Issue', 'PullRequest', 'Commit', 'Release', 'RepositoryInvitation', 'RepositoryImport'));
alter table subjects add column import_id bigint references imports on delete cascade;
create unique index subjects_import on subjects (import_id) where import_id is not null;
