-- Requests by caller in the current hour, over all nodes. Each node counts by itself and adds its count every half second. After a crash or a
-- failover the table is empty, which gives callers a new hour.
create unlogged table rate_limits (
  -- The variant of the API and the caller.
  key text primary key,
  used bigint not null,
  -- The end of the hour, in seconds since 1970.
  reset bigint not null
);
