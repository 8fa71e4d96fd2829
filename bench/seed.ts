import { type Database, sql } from '#platform/database.ts'

/** One event in a hundred is there. */
export const busyRepository = 'person-2/repo-1'

const people = 1000
const repositories = 100_000
/** As long as a log is kept, so that every month has a partition. */
const days = 360

/**
 * Fills a database to a number of events, set-wise: people, repositories of which some are far busier than others, and the last year.
 * `watches-50` and `watches-5000` watch as many repositories as they say.
 */
export async function seed(db: Database, events: number) {
  await db.query(sql`
    insert into accounts (type, login, email, created_at, updated_at)
    select 'User', 'person-' || n, 'person-' || n || '@example.com', ${db.now}::timestamptz, ${db.now}::timestamptz from generate_series(1, ${people}::int) n
    union all select 'User', 'watches-' || n, 'watches-' || n || '@example.com', ${db.now}::timestamptz, ${db.now}::timestamptz from unnest('{50,5000}'::int[]) n
    on conflict do nothing`)
  await db.query(sql`
    insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
    select a.id, 'repo-' || n, n % 10 = 0, 0, ${db.now}::timestamptz, ${db.now}::timestamptz
    from generate_series(1, ${repositories}::int) n join accounts a on a.login = 'person-' || (n % ${people}::int + 1)
    where not exists (select from repositories where name = 'repo-1')`)
  await db.query(sql`update repositories set network_id = id where network_id = 0`)
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select a.id, r.id, ${db.now}::timestamptz
    from unnest('{50,5000}'::int[]) many join accounts a on a.login = 'watches-' || many
    cross join lateral (select id from repositories where name like 'repo-%' order by md5(name) limit many) r
    on conflict do nothing`)
  // With nothing to record, the months are made all the same.
  await db.query(sql`
    select record_events(${db.now}::timestamptz - make_interval(days => day), 1, 1, '[]') from generate_series(0, ${days}::int, 20) day`)
  await db.query(sql`
    with range as (select min(r.id) as first, max(r.id) - min(r.id) as width from repositories r where name like 'repo-%'),
      busy as (select id from repositories where name = 'repo-1'),
      actors as (select min(id) as first from accounts where login like 'person-%'),
      there as (select count(*) as total from events)
    insert into events (position, type, actor_id, repo_id, public, payload, created_at)
    select there.total + n - 1000000000, case when n % 10 < 7 then 'PushEvent' when n % 10 < 9 then 'WatchEvent' else 'CreateEvent' end,
      actors.first + (random() * ${people - 1}::int)::int, case when n % 100 = 0 then busy.id else range.first + floor(random() * random() * range.width)::int end, random() > 0.1,
      case when n % 10 < 7 then ${JSON.stringify(push)}::jsonb when n % 10 < 9 then '{"action":"started"}'::jsonb
        else '{"ref":"main","ref_type":"branch","master_branch":"main","description":null}'::jsonb end,
      ${db.now}::timestamptz - make_interval(days => ${days}::int) * (1 - n::float8 / (${events}::bigint - there.total))
    from there, range, busy, actors, generate_series(1, greatest(0, ${events}::bigint - there.total)) n order by n`)
  await db.query(sql`vacuum (analyze) events`)
  await postponeCheck(db)
  await db.query(sql`analyze`)
}

/** These repositories have no folders. The check of all repositories at each start would create them, for half an hour. */
async function postponeCheck(db: Database) {
  await db.query(sql`
    create or replace function postpone_check() returns trigger language plpgsql as $$
      begin new.run_at := new.run_at + interval '1 day'; return new; end $$`)
  await db.query(sql`
    create or replace trigger postpone_check before insert on graphile_worker._private_jobs for each row
    when (new.key = 'check repositories') execute function postpone_check()`)
}

const sha = '8d1f6b2f0c3a4e5d6b7c8a9f0e1d2c3b4a5f6e7d'
const push = {
  push_id: 1,
  ref: 'refs/heads/main',
  head: sha,
  before: sha,
  size: 1,
  distinct_size: 1,
  commits: [{ sha, message: 'Describe the mill', author: { name: 'Ada', email: 'ada@example.com' }, distinct: true }],
}
