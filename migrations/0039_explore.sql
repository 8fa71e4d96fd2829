-- The lists of /explore. Stars and pushes change these columns, so the indexes have public repositories only.
create index repositories_pushed on repositories (pushed_at desc nulls last, id desc) where not private;
create index repositories_stars on repositories (stargazers_count desc, id desc) where not private;
create index accounts_joined on accounts (created_at desc) where type = 'User';
