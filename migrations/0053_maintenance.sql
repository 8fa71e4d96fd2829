-- While there is a row, all nodes refuse requests that write.
create table maintenance (
  only_row boolean primary key default true check (only_row),
  since timestamptz not null,
  message text not null,
  retry_after integer not null check (retry_after > 0)
);
