-- The pull request whose merge made a commit.
create index pulls_merge_commit on pulls (merge_commit_sha) where merge_commit_sha is not null;
