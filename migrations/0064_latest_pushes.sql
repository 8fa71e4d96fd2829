-- The last ref that a push moved in each repository, because a test of a webhook sends the latest push again. The event log has no entry for
-- some of them, and too few facts about tags and deleted refs. A deleted pusher is shown as the ghost.
create table latest_pushes (
  repo_id bigint primary key references repositories on delete cascade,
  pusher_id bigint not null,
  ref text not null,
  before text not null,
  after text not null,
  -- The number of commits that it brought.
  size integer not null,
  pushed_at timestamptz not null
);

insert into latest_pushes
select r.id, e.actor_id, e.payload->>'ref', e.payload->>'before', e.payload->>'head', (e.payload->>'size')::integer, e.created_at
from repositories r cross join lateral (
  select * from events e where e.repo_id = r.id and e.type = 'PushEvent' order by e.created_at desc, e.id desc limit 1) e;
