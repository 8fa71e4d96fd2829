-- The main language and the key of the license of the default branch. A job writes them after a push, see describe-contents.ts.
alter table repositories
  add column language text,
  add column license text,
  -- The repository whose files a repository was generated from.
  add column template_id bigint references repositories on delete set null;
create index repositories_language on repositories (lower(language)) where language is not null;
create index repositories_license on repositories (license) where license is not null;
create index repositories_template on repositories (template_id) where template_id is not null;
select enqueue_job('describe_contents', json_build_object('repo_id', id), 'describe ' || id) from repositories;

create or replace function repository_facts(r repositories) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'description', r.description, 'homepage', r.homepage, 'fork', nullif(r.parent_id is not null, false),
    'language', r.language, 'license', r.license,
    'default_branch', nullif(r.default_branch, 'main'), 'topics', to_jsonb(nullif(r.topics, '{}')),
    'archived', nullif(r.archived, false), 'is_template', nullif(r.is_template, false),
    'has_issues', nullif(r.has_issues, true), 'has_projects', nullif(r.has_projects, true), 'has_wiki', nullif(r.has_wiki, true),
    'allow_rebase_merge', nullif(r.allow_rebase_merge, true), 'allow_squash_merge', nullif(r.allow_squash_merge, true),
    'allow_merge_commit', nullif(r.allow_merge_commit, true), 'size', nullif(r.size, 0), 'forks_count', nullif(r.public_forks_count, 0),
    'stargazers_count', nullif(r.stargazers_count, 0), 'subscribers_count', nullif(r.subscribers_count, 0),
    'open_issues_count', nullif(r.open_issues_count, 0),
    'pushed_at', epoch(r.pushed_at), 'created_at', epoch(r.created_at), 'updated_at', epoch(r.updated_at))
$$;

-- Where a renamed branch is now.
create table branch_redirects (
  repo_id bigint not null references repositories on delete cascade,
  name text not null,
  branch text not null,
  primary key (repo_id, name)
);

-- Apps that are asked, or not, to check the pushes to a repository. Without a row they are.
create table check_suite_preferences (
  repo_id bigint not null references repositories on delete cascade,
  app_id bigint not null references apps on delete cascade,
  setting boolean not null,
  primary key (repo_id, app_id)
);
create index check_suite_preferences_app on check_suite_preferences (app_id);
