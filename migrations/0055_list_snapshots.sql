-- The snapshot in which the API last read the first page of a user's notifications, for marks up to a whole second. All nodes share it. It
-- is updated often: with free space in its pages and no index of an updated column, an update writes no index.
create table list_snapshots (
  user_id bigint primary key references accounts on delete cascade,
  snapshot pg_snapshot not null,
  read_at timestamptz not null
) with (fillfactor = 50);
