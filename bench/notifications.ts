import { fanOut } from '#parts/notifications/fan-out.ts'
import { type Database, sql } from '#platform/database.ts'
import { makeFolder, type RunningBelfry, startBelfry, withDatabase } from './belfry.ts'
import { readAnswer } from './load.ts'
import { judge, median, note, write } from './report.ts'
import { compareRequests, rawRequest } from './requests.ts'

const crowds = (process.env.BENCH_WATCHERS ?? '10000,100000').split(',').map(Number)
const inboxes = (process.env.BENCH_THREADS ?? '1000,1000000').split(',').map(Number)
const rounds = 5

/** Telling a crowd, against one bare insert of the same rows; then inboxes of a few threads and of very many. */
export async function compareNotifications() {
  using folder = makeFolder()
  await withDatabase(folder.path, async (db) => {
    await seedPeople(db)
    write(`\nAn act told to all who watch, against one INSERT … SELECT of the same rows, in milliseconds\n`)
    write('| watchers | Belfry | bare insert | ratio | target |\n|---:|---:|---:|---:|---:|')
    for (const watchers of crowds) await compareCrowd(db, watchers)
    for (const threads of inboxes) await seedInbox(db, threads)
    await db.query(sql`vacuum (analyze) threads`)
    await db.query(sql`analyze`)
  })
  await using belfry = await startBelfry(folder.path)
  const readers = await Promise.all(inboxes.map((threads) => signIn(belfry, inboxOf(threads))))
  await comparePages(belfry, readers)
  const largest = readers.at(-1)
  if (!largest) return
  await compareRequests(largest, [
    { name: 'a list of notifications as 304', path: list, conditional: 'etag', token: true, target: 0.5 },
    { name: 'the same by its date', path: list, conditional: 'date', token: true, target: 0.5 },
  ])
  await timeMarks(largest)
}

const list = '/api/v3/notifications'
const inboxOf = (threads: number) => `inbox-${threads}`

async function seedPeople(db: Database) {
  const now = db.now
  await db.query(sql`
    insert into accounts (type, login, created_at, updated_at) select 'User', 'author', ${now}::timestamptz, ${now}::timestamptz
    union all select 'User', 'inbox-' || n, ${now}, ${now} from unnest(${inboxes}::int[]) n
    union all select 'User', 'watcher-' || n, ${now}, ${now} from generate_series(1, ${Math.max(...crowds)}::int) n`)
  await db.query(sql`
    insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
    select id, 'crowd', false, 0, ${now}, ${now} from accounts where login = 'author'`)
}

async function compareCrowd(db: Database, watchers: number) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select a.id, r.id, ${db.now} from accounts a, repositories r where r.name = 'crowd' and a.login like 'watcher-%'
    order by a.id limit ${watchers} on conflict do nothing`)
  await db.query(sql`analyze`)
  const [ours, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const subject_id = await seedSubject(db)
    ours.push(await timed(() => fanOut(db, subject_id)))
    await db.query(sql`create table bare_threads (like threads including all)`)
    bare.push(
      await timed(() =>
        db.query(sql`
          insert into bare_threads (user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons)
          select user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons
          from threads where subject_id = ${subject_id}`),
      ),
    )
    await db.query(sql`drop table bare_threads`)
  }
  const ratio = median(ours) / median(bare)
  note(`notifying ${watchers} watchers: ratio`, ratio)
  write(
    `| ${watchers} | ${median(ours).toFixed(0)} | ${median(bare).toFixed(0)} | ${ratio.toFixed(2)} | ${judge(ratio, { most: 3 })} |`,
  )
}

/** A commit that somebody commented on: of all subjects the one that needs least besides. */
async function seedSubject(db: Database): Promise<number> {
  const row = await db.first<{ subject_id: number }>(sql`
    with subject as (
      insert into notification_subjects (repo_id, type, commit_id, title) select id, 'Commit', gen_random_uuid(), 'It rattles'
      from repositories where name = 'crowd' returning id)
    insert into notification_events (subject_id, actor_id, act, people, teams, body, created_at)
    select subject.id, a.id, 'commented', '{}', '{}', 'So it does', ${db.now} from subject, accounts a where a.login = 'author'
    returning subject_id`)
  return row?.subject_id ?? 0
}

async function timed(work: () => Promise<unknown>) {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** So many threads of one person, unread, over the last hundred days. */
async function seedInbox(db: Database, threads: number) {
  await db.query(sql`
    with made as (
      insert into notification_subjects (repo_id, type, commit_id, title)
      select r.id, 'Commit', gen_random_uuid(), 'Commit ' || n from repositories r, generate_series(1, ${threads}::int) n where r.name = 'crowd'
      returning id, repo_id)
    insert into threads (user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons)
    select a.id, made.repo_id, made.id, 'subscribed', ${db.now}::timestamptz - interval '100 days' * random(), 1, '{}', '{}'
    from made, accounts a where a.login = ${inboxOf(threads)}`)
}

async function signIn(belfry: RunningBelfry, login: string): Promise<RunningBelfry> {
  const answer = await fetch(`http://127.0.0.1:${belfry.port}/api/v3/admin/users/${login}/authorizations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${belfry.token}` },
    body: '{"scopes":["notifications"]}',
  })
  const { token } = (await answer.json()) as { token: string }
  return { ...belfry, token }
}

/** Pages that are read from the database: something is committed before each. */
async function comparePages(belfry: RunningBelfry, readers: RunningBelfry[]) {
  const times: number[] = []
  for (const reader of readers) {
    const taken: number[] = []
    for (let n = 0; n < 120; n++) {
      const method = n % 2 ? 'DELETE' : 'PUT'
      await readAnswer(belfry.port, `${rawRequest(belfry, '/api/v3/user/starred/author/crowd', { token: true, method })}\r\n`)
      taken.push(await timed(() => readAnswer(belfry.port, `${rawRequest(reader, list, { token: true })}\r\n`)))
    }
    times.push(median(taken.slice(20)))
  }
  const growth = (times.at(-1) ?? 0) / (times[0] ?? 1)
  note('a page of many notifications against one of few: ratio', growth)
  write(`\nA page of notifications that is read anew, in milliseconds\n\n| ${inboxes.join(' | ')} | growth | target |`)
  write(`|${'---:|'.repeat(inboxes.length + 2)}`)
  write(`| ${times.map((each) => each.toFixed(2)).join(' | ')} | ${growth.toFixed(2)} | ${judge(growth, { most: 1.3 })} |`)
}

async function timeMarks(reader: RunningBelfry) {
  const taken: number[] = []
  for (let n = 0; n < 9; n++) {
    const answer = `${rawRequest(reader, list, { token: true, method: 'PUT' })}\r\n`
    taken.push(await timed(() => readAnswer(reader.port, answer)))
  }
  note('marking all notifications as read: ms', median(taken))
  write(
    `\nMarking ${inboxes.at(-1)} threads as read is answered in ${median(taken).toFixed(0)} ms ${judge(median(taken), { most: 100 })}`,
  )
}
