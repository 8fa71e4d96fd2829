-- Whether properties of Subversion files become .gitattributes files.
alter table imports add column gitattributes boolean not null default false;
