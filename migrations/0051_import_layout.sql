-- The folders of branches and tags that the user chose for Subversion, whether deleted branches are kept, and the changes that will be in no
-- branch and no tag, as far as they are known before the report.
alter table imports
  add column svn_layout jsonb,
  add column keep_deleted boolean not null default false,
  add column left_out jsonb;
