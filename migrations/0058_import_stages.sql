-- Folders of complete imports that are in the store of large files, as tar archives, by their SHA-256.
create table import_stages (
  import_id bigint primary key references imports on delete cascade,
  -- The run that made it.
  run integer not null,
  -- Identifies the source whose history is in it.
  origin text not null,
  oid text not null,
  size bigint not null,
  stored_at timestamptz not null
);
create index import_stages_contents on import_stages (oid);
