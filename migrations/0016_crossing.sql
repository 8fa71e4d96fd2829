-- Deleted repositories whose contents are still on disk, because forks may wait for a copy of them.
create table deleted_repositories (
  repo_id bigint primary key,
  private boolean not null
);

-- How many forks everyone may know of. A viewer's own private ones are counted when a repository is read.
alter table repositories rename column forks_count to public_forks_count;
update repositories r set public_forks_count = (select count(*) from repositories f where f.parent_id = r.id and not f.private)
  where public_forks_count > 0;
create index repositories_private_forks on repositories (parent_id) where private and parent_id is not null;
