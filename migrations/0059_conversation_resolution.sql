-- Whether pull requests into a branch are merged only when all review conversations are resolved.
alter table branch_protections add column required_conversation_resolution boolean not null default false;
