-- Files of a release. Their contents are in the store of large files, by their SHA-256.
create table release_assets (
  id bigint generated always as identity primary key,
  release_id bigint not null references releases on delete cascade,
  name text not null,
  label text,
  content_type text not null,
  oid text not null,
  size bigint not null,
  uploader_id bigint references accounts on delete set null,
  downloads_count bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (release_id, name)
);
create index release_assets_contents on release_assets (oid);
create index release_assets_uploader on release_assets (uploader_id);
