import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '#identity/accounts.ts'
import { newestFirst } from '#parts/timelines/event-rows.ts'
import { isShown, type View } from '#parts/timelines/shown.ts'
import { readTimeline, type Timeline, timelines } from '#parts/timelines/timelines.ts'
import { type Database, sql } from '#platform/database.ts'
import { openForge } from '#test/forge.ts'
import { seeded } from './crowd.ts'

const people = 12
const day = 86_400_000

export interface Crowd {
  repositories: number
  events: number
  /** How much more often the first repositories and people act than the last: 1 means equally often. */
  skew: number
  /** The share of comments that no longer exist, among the newest events and among all. */
  gone: { newest: number; others: number }
}

/** Every page, for several viewers and timelines. */
export function testSources(crowds: Record<string, Crowd>) {
  for (const [name, crowd] of Object.entries(crowds)) {
    test(`a page of many sources is the same as that of all events, filtered: ${name}`, async () => {
      await using forge = await openForge()
      const { db } = forge.belfry
      const users = await fill(db, crowd, seeded(crowd.events))
      const since = new Date(db.now.getTime() - 90 * day)
      const [ada, ben, cleo, org] = users
      assert.ok(ada && ben && cleo && org)
      for (const viewer of [null, ada, ben]) {
        const view: View = { viewer: viewer && { viewer_id: viewer.id, sees_private: true }, since, until: null }
        for (const timeline of [timelines.received(ada), timelines.received(cleo), timelines.organization(org)]) {
          await compare(db, timeline, view)
        }
        await compare(db, timelines.received(ada), { ...view, until: new Date(db.now.getTime() - 5 * day) })
      }
    })
  }
}

/** Every page of 30 and of 100, and the total. */
async function compare(db: Database, timeline: Timeline, view: View) {
  const all = await db.rows<{ id: number }>(sql`
    select e.id from events e where ${timeline.condition} and ${isShown(view)} ${newestFirst} limit 300`)
  const expected = all.map(({ id }) => id)
  for (const limit of [30, 100]) {
    for (let offset = 0; offset <= Math.min(expected.length, 299); offset += limit) {
      const { rows, total } = await readTimeline(db, timeline, view, { limit, offset })
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected.slice(offset, offset + limit),
      )
      assert.equal(total, expected.length)
    }
  }
}

/**
 * The first person watches almost all repositories and follows some people, the third watches a few and follows most. Some repositories are
 * private, one person is suspended, and many events have the same time.
 */
async function fill(db: Database, { repositories, events, skew, gone }: Crowd, random: () => number): Promise<Account[]> {
  const users = await db.rows<Account>(sql`
    insert into accounts (type, login, created_at, updated_at, suspended_at)
    select case n when 4 then 'Organization' else 'User' end, 'user-' || n, ${db.now}, ${db.now}::timestamptz, case n when 6 then ${db.now}::timestamptz end
    from generate_series(1, ${people}::int) n returning *`)
  const userIds = users.map(({ id }) => id)
  const repos = await db.rows<{ id: number; private: boolean }>(sql`
    insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
    select (${userIds}::bigint[])[n % 5 + 1], 'repo-' || n, n % 7 = 0, n, ${db.now}, ${db.now} from generate_series(1, ${repositories}::int) n
    returning id, private`)
  const repoIds = repos.map(({ id }) => id)
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, ignored, created_at)
    select ${userIds[0]}::bigint, id, n % 13 = 0, ${db.now}::timestamptz from unnest(${repoIds}::bigint[]) with ordinality r (id, n) where n % 20 > 0
    union all select ${userIds[2]}, id, n % 4 = 0, ${db.now} from unnest(${repoIds}::bigint[]) with ordinality r (id, n) where n % 5 = 0`)
  await db.query(sql`
    insert into follows (follower_id, followed_id, created_at)
    select ${userIds[0]}::bigint, id, ${db.now}::timestamptz from unnest(${userIds}::bigint[]) with ordinality u (id, n) where n % 4 = 3
    union all select ${userIds[2]}, id, ${db.now} from unnest(${userIds}::bigint[]) with ordinality u (id, n) where n <> 3`)
  await db.query(sql`
    insert into collaborators (repo_id, user_id, access, created_at)
    select id, ${userIds[1]}, 1, ${db.now} from unnest(${repoIds}::bigint[]) with ordinality r (id, n) where n % 14 = 0`)
  const [comment] = await db.rows<{ id: number }>(sql`
    with issue as (
      insert into issues (repo_id, number, author_id, title, created_at, updated_at)
      values (${repoIds[0]}, 1, ${userIds[0]}, 'It rings', ${db.now}, ${db.now}) returning id, repo_id)
    insert into comments (repo_id, issue_id, author_id, body, created_at, updated_at)
    select repo_id, id, ${userIds[0]}, 'Twice', ${db.now}, ${db.now} from issue returning id`)
  const pick = <T>(all: T[]) => all[Math.floor(random() ** skew * all.length)] as T
  const listed = Array.from({ length: events }, (_, index) => {
    const is_gone = random() < (index < events * 0.3 ? gone.newest : gone.others)
    const [repo, is_comment] = [pick(repos), is_gone || random() < 0.5]
    return {
      ...{ actor: pick(userIds), repo: repo.id, open: !repo.private && random() > 0.1 },
      type: is_comment ? 'IssueCommentEvent' : 'WatchEvent',
      payload: is_comment ? { comment_id: is_gone ? 0 : comment?.id } : { action: 'started' },
      // Half a day between groups of up to ten at the same time, or over two months.
      hours: Math.floor(index / 10) * Math.min(12, (60 * 24 * 10) / events),
    }
  })
  for (const days of [0, 20, 40, 60]) {
    await db.query(sql`select record_events(${db.now}::timestamptz - make_interval(days => ${days}), 1, 1, '[]')`)
  }
  await db.query(sql`
    insert into events (position, type, actor_id, repo_id, public, payload, created_at)
    select 1, type, actor, repo, open, payload, ${db.now}::timestamptz - make_interval(hours => floor(hours)::int)
    from jsonb_to_recordset(${JSON.stringify(listed)}::jsonb)
      as e (type text, actor bigint, repo bigint, open boolean, payload jsonb, hours float8) order by random()`)
  return users
}
