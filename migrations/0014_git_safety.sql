-- Replacements of objects are refused and never followed. Those that were pushed before are forgotten here, and removed from each repository that
-- has some when Belfry starts (`removeReplacements`).
create table replaced_repositories (
  repo_id bigint primary key references repositories on delete cascade
);

insert into replaced_repositories (repo_id)
select distinct repo_id from refs where name like 'refs/replace/%'
union
select distinct repo_id from pushes where commands::text like '%refs/replace/%';

delete from refs where name like 'refs/replace/%';

update pushes set commands = coalesce(
  (select jsonb_agg(command) from jsonb_array_elements(commands) as command where command->>'ref' not like 'refs/replace/%'), '[]')
where commands::text like '%refs/replace/%';

-- A page of pushes is read at once, so each old push keeps about 16 KB of messages, like new ones.
update events set payload = jsonb_set(payload, '{commits}', (
  select coalesce(jsonb_agg(jsonb_set(commit, '{message}', to_jsonb(left(commit->>'message', 800))) order by place), '[]')
  from jsonb_array_elements(payload->'commits') with ordinality as listed (commit, place)))
where type = 'PushEvent' and length(payload->>'commits') > 32768;
