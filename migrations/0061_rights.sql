-- Both sides may suspend an installation: the app, and the account that it is installed on. Each ends its own suspension only.
alter table installations add suspended_by_app boolean not null default false;
alter table installations add suspended_by_account boolean not null default false;
update installations i set
  suspended_by_app = coalesce(a.type = 'Bot', false),
  suspended_by_account = a.type is distinct from 'Bot'
from installations s left join accounts a on a.id = s.suspended_by
where s.id = i.id and i.suspended_at is not null;

-- Who edited a text last. Pages name the editor, if it is not the author.
alter table issues add editor_id bigint references accounts (id) on delete set null;
alter table comments add editor_id bigint references accounts (id) on delete set null;
alter table reviews add editor_id bigint references accounts (id) on delete set null;
alter table review_comments add editor_id bigint references accounts (id) on delete set null;
alter table commit_comments add editor_id bigint references accounts (id) on delete set null;
create index issues_editor on issues (editor_id) where editor_id is not null;
create index comments_editor on comments (editor_id) where editor_id is not null;
create index reviews_editor on reviews (editor_id) where editor_id is not null;
create index review_comments_editor on review_comments (editor_id) where editor_id is not null;
create index commit_comments_editor on commit_comments (editor_id) where editor_id is not null;
