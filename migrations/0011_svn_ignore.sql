-- Whether lists of what Subversion is to ignore become .gitignore files.
alter table imports add column svn_ignore boolean not null default false;
