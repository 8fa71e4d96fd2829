-- Further e-mail addresses of users, none of them verified. The primary address is accounts.email.
create table emails (
  user_id bigint not null references accounts on delete cascade,
  email text not null,
  claimed_at timestamptz not null
);
create unique index emails_of_user on emails (user_id, lower(email));
create index emails_claims on emails (lower(email), claimed_at, user_id);

alter table accounts add email_public boolean not null default false;
create index accounts_organizations on accounts (id) where type = 'Organization';

-- A former login leads to the account's repositories. No other account can take it.
create table former_logins (
  login text primary key check (login = lower(login)),
  account_id bigint not null references accounts on delete cascade
);
create index former_logins_account on former_logins (account_id);

-- The access that a team gets to a repository unless another is named.
alter table teams add access smallint not null default 1 check (access between 1 and 5);

-- A release outlives its author's account, like everything else in a repository.
alter table releases alter author_id drop not null;
alter table releases drop constraint releases_author_id_fkey;
alter table releases add constraint releases_author_id_fkey foreign key (author_id) references accounts on delete set null;

-- One reaction of a user to a text: an issue (or pull request), a comment, or a release.
create table reactions (
  id bigint generated always as identity primary key,
  user_id bigint not null references accounts on delete cascade,
  content text not null check (content in ('+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes')),
  issue_id bigint references issues on delete cascade,
  comment_id bigint references comments on delete cascade,
  review_comment_id bigint references review_comments on delete cascade,
  commit_comment_id bigint references commit_comments on delete cascade,
  release_id bigint references releases on delete cascade,
  created_at timestamptz not null,
  check (num_nonnulls(issue_id, comment_id, review_comment_id, commit_comment_id, release_id) = 1)
);
create unique index reactions_issue on reactions (issue_id, user_id, content) where issue_id is not null;
create unique index reactions_comment on reactions (comment_id, user_id, content) where comment_id is not null;
create unique index reactions_review_comment on reactions (review_comment_id, user_id, content) where review_comment_id is not null;
create unique index reactions_commit_comment on reactions (commit_comment_id, user_id, content) where commit_comment_id is not null;
create unique index reactions_release on reactions (release_id, user_id, content) where release_id is not null;
create index reactions_user on reactions (user_id);
