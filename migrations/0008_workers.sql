-- Who runs jobs, and when they were last heard of: what the dead had in hand is given to others. Worth nothing after a crash of the database.
create unlogged table workers (
  id text primary key,
  seen_at timestamptz not null
);
