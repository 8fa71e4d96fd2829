import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Database, sql, type Transaction } from '#platform/database.ts'
import { expect, openForge, type Person, pick } from '#test/forge.ts'
import { octokitsOf } from '#test/inbox.ts'
import { fillLog } from '#test/timelines.ts'
import { hookOn } from '#test/webhooks.ts'
import { continueReplay } from './run-replay.ts'

const forge = await openForge()
after(() => forge[Symbol.asyncDispose]())
const { db, storage } = forge.belfry
const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
await forge.organization('acme', ada)
const minute = 60_000
const day = 86_400_000

let places = 0
async function openPlace(...events: string[]) {
  const { id, full_name } = await ada.owns(`place-${++places}`)
  const hook = await hookOn(ada, `repos/${full_name}`, ...events)
  forge.clock.advance(minute)
  return { id: id as number, hook, repo: `/repos/${full_name}`, path: `/repos/${full_name}/hooks/${hook.id}/replays` }
}

const ago = (milliseconds: number) => new Date(forge.clock.now().getTime() - milliseconds).toISOString()

async function replay(path: string, body: Record<string, unknown> = {}) {
  return expect(202, await ada.post(path, { since: ago(day), ...body }))
}

/** Runs a replay to its end, a batch at a time. */
async function finish(address: string, id: number) {
  for (let turn = 0; turn < 100; turn++) {
    await continueReplay(db, storage, id)
    const found = await ada.read(address)
    if (found.status !== 'running') return found
    forge.clock.advance(minute)
  }
  throw new Error('the replay did not end')
}

interface Stored {
  event: string
  action: string | null
  repo_id: number
  guid: string
  redelivery: boolean
  body: string
  ready_at: Date
}

/** Pending deliveries of a replay, oldest first. */
const stored = (hook: { id: number }) =>
  db.rows<Stored>(sql`
    select u.event, u.action, u.repo_id, u.guid, u.redelivery, p.body, u.ready_at from pending_deliveries u join payloads p on p.id = u.payload_id
    where u.hook_id = ${hook.id} and u.event <> 'ping' and u.redelivery order by u.id`)

const told = async (hook: { id: number }) =>
  (await stored(hook)).map(({ event, action }) => (action ? `${event} ${action}` : event))

const openIssue = async (repo: string, title: string, who: Person = ada): Promise<number> =>
  (await expect(201, await who.post(`${repo}/issues`, { title }))).number

test('a period of the log is delivered again in order, with new guids', async () => {
  const { id: repo_id, repo, hook, path } = await openPlace('issues', 'star')
  await openIssue(repo, 'Before')
  forge.clock.advance(minute)
  const since = forge.clock.now().toISOString()
  const number = await openIssue(repo, 'Within')
  await expect(204, await ben.put(`/user/starred${repo.slice(6)}`))
  forge.clock.advance(minute)
  await expect(200, await ada.patch(`${repo}/issues/${number}`, { state: 'closed' }))
  const until = forge.clock.now().toISOString()
  forge.clock.advance(minute)
  await openIssue(repo, 'After')
  const before = await db.rows<{ guid: string }>(sql`select guid from pending_deliveries`)
  const answer = await ada.post(path, { since, until })
  const made = await expect(202, answer)
  assert.equal(answer.headers.get('location'), made.url)
  assert.equal(made.url, `${forge.web}/api/v3${path}/${made.id}`)
  const created_at = forge.clock.now().toISOString().replace(/\.\d+/, '')
  const [began, ended] = [since, until].map((moment) => moment.replace(/\.\d+/, ''))
  assert.deepEqual(made, {
    ...{ id: made.id, url: made.url, status: 'queued', since: began, until: ended, events: ['issues', 'star'] },
    ...{ total: null, told: 0, passed_over: 0, created_at, finished_at: null },
  })
  const done = await finish(made.url, made.id)
  assert.partialDeepStrictEqual(done, { status: 'done', total: 3, told: 3, passed_over: 0, finished_at: created_at })
  const rows = await stored(hook)
  assert.deepEqual(await told(hook), ['issues opened', 'star created', 'issues closed'])
  assert.ok(rows.every((row) => row.redelivery && row.repo_id === repo_id && !before.some(({ guid }) => guid === row.guid)))
  const [opened, starred] = rows.map(({ body }) => JSON.parse(body))
  assert.partialDeepStrictEqual(opened, { issue: { title: 'Within' }, sender: { login: 'ada' } })
  assert.partialDeepStrictEqual(starred, { sender: { login: 'ben' }, starred_at: began })
  assert.deepEqual(await ada.read(path), [done])
  assert.deepEqual((await ada.versioned.read(`${path}/${made.id}`)).url, `${forge.versioned}${path}/${made.id}`)
})

test('an invalid replay is refused, and users who may not change the hook cannot replay', async () => {
  const { repo, path } = await openPlace('issues', 'push')
  const wrong: [body: Record<string, unknown>, field: string][] = [
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2026-02-30T00:00:00Z' }, 'since'],
    [{ since: ago(-minute) }, 'since'],
    [{ since: ago(30 * day + 1000) }, 'since'],
    [{ since: ago(minute), until: ago(2 * minute) }, 'since'],
    [{ since: ago(minute), until: ago(minute) }, 'since'],
    [{ since: ago(minute), until: 'tomorrow' }, 'until'],
    [{ since: ago(minute), events: ['issues', 'star'] }, 'events'],
    [{ since: ago(minute), events: ['*'] }, 'events'],
    [{ since: ago(minute), events: [] }, 'events'],
  ]
  for (const [body, field] of wrong) {
    const { errors } = await expect(422, await ada.post(path, body))
    assert.deepEqual([errors[0].resource, errors[0].field], ['HookReplay', field], JSON.stringify(body))
  }
  for (const body of [{}, { since: 5 }, { since: null }, { since: ago(1), events: 'push' }, { since: ago(1), events: [5] }]) {
    await expect(422, await ada.post(path, body))
  }
  assert.equal((await ben.post(path, { since: ago(minute) })).status, 404)
  const reader = await forge.tokenFor('ada', ['read:repo_hook'])
  assert.equal((await reader.post(path, { since: ago(minute) })).status, 403)
  const made = await replay(path, { until: ago(-day), events: ['issues', 'issues'] })
  assert.deepEqual([made.until, made.events], [made.created_at, ['issues']])
  assert.equal((await reader.get(`${path}/${made.id}`)).status, 200)
  assert.equal((await reader.delete(`${path}/${made.id}`)).status, 403)
  for (const address of [path, `${path}/${made.id}`]) assert.equal((await ben.get(address)).status, 404)
  const other = await hookOn(ada, repo.slice(1), 'issues')
  const others = `${repo}/hooks/${other.id}/replays`
  await expect(404, await ada.get(`${others}/${made.id}`))
  await expect(404, await ada.get(`${path}/${made.id + 1}`))
  await replay(others, { since: ago(30 * day) })
})

test('a hook has one replay at a time, which can be cancelled until it ends', async (context) => {
  const { id, hook, path } = await openPlace('create')
  await fillLog(forge, id, (await ada.read('/user')).id, 120)
  const made = await replay(path)
  const other = await replay((await openPlace('create')).path)
  const refused = await Promise.all([ada.post(path, { since: ago(day) }), ada.post(path, { since: ago(day) })])
  for (const answer of refused) assert.match((await expect(422, answer)).message, /is running/)
  await continueReplay(db, storage, made.id)
  assert.partialDeepStrictEqual(await ada.read(made.url), { status: 'running', total: 120, told: 50 })
  assert.equal((await ada.read(other.url)).status, 'queued')
  await expect(204, await ada.delete(made.url))
  await continueReplay(db, storage, made.id)
  assert.partialDeepStrictEqual(await ada.read(made.url), { status: 'cancelled', total: 120, told: 50 })
  assert.equal((await stored(hook)).length, 50)
  await expect(422, await ada.delete(made.url))
  const next = await replay(path)
  assert.equal((await finish(next.url, next.id)).told, 120)
  await expect(422, await ada.delete(next.url))
  const last = await replay(path)
  assert.deepEqual(pick(await ada.read(path), 'id', 'status'), [
    [last.id, 'queued'],
    [next.id, 'done'],
    [made.id, 'cancelled'],
  ])
  // The hook is deleted just before the batch is stored.
  const late = context.mock.method(db, 'transaction', async (work: (transaction: Transaction) => Promise<void>) => {
    late.mock.restore()
    await expect(204, await ada.delete(path.replace('/replays', '')))
    return db.transaction(work)
  })
  await continueReplay(db, storage, last.id)
  assert.deepEqual(await stored(hook), [])
  await continueReplay(db, storage, last.id)
  assert.deepEqual(await db.rows(sql`select status from replays where id = ${last.id}`), [{ status: 'cancelled' }])
  assert.deepEqual(await stored(hook), [])
})

test('at most ten per second are sent, and a batch that failed or ran twice is stored once', async (context) => {
  const { id, hook, path } = await openPlace('create')
  await fillLog(forge, id, (await ada.read('/user')).id, 120)
  const made = await replay(path)
  const killed = context.mock.method(db, 'transaction', (work: (transaction: Transaction) => Promise<void>) =>
    Database.prototype.transaction.call(db, async (transaction) => {
      await work(transaction)
      throw new Error('killed')
    }),
  )
  await assert.rejects(continueReplay(db, storage, made.id), /killed/)
  killed.mock.restore()
  assert.partialDeepStrictEqual(await ada.read(made.url), { status: 'running', told: 0 })
  assert.deepEqual(await stored(hook), [])
  // Two runs from the same position do the work of one.
  await Promise.all([continueReplay(db, storage, made.id), continueReplay(db, storage, made.id)])
  // If the second began after the first had ended, it did the next batch.
  const { status, told } = await ada.read(made.url)
  assert.ok(status === 'running' && (told === 50 || told === 100), `${status} ${told}`)
  assert.equal((await stored(hook)).length, told)
  // The clock stands still, but the next batch is scheduled after the previous one.
  while ((await ada.read(made.url)).status === 'running') await continueReplay(db, storage, made.id)
  const moments = (await stored(hook)).map(({ ready_at }) => ready_at.getTime())
  assert.equal(moments.length, 120)
  const first = forge.clock.now().getTime() + 30_000
  assert.deepEqual(
    moments,
    Array.from(moments, (_, place) => first + 100 * place),
  )
  const { jobs } =
    (await db.first<{ jobs: number }>(sql`
    select count(*) as jobs from graphile_worker.jobs where key = ${`replay ${made.id}`}`)) ?? {}
  assert.equal(jobs, 1)
})

test('deleted records are skipped and counted', async () => {
  const { repo, hook, path } = await openPlace('issues', 'issue_comment', 'push', 'fork', 'member')
  const number = await openIssue(repo, 'Here')
  const comment = async (body: string) => (await expect(201, await ada.post(`${repo}/issues/${number}/comments`, { body }))).id
  const [, gone] = [await comment('Stays'), await comment('Goes')]
  await expect(204, await ada.delete(`${repo}/issues/comments/${gone}`))
  await expect(201, await ada.put(`${repo}/contents/x.txt`, { message: 'x', content: btoa('x') }))
  await expect(202, await ben.post(`${repo}/forks`))
  await db.query(sql`update repositories set private = true where owner_id = (select id from accounts where login = 'ben')`)
  await db.query(
    sql`update events set payload = payload || ${JSON.stringify({ head: 'f'.repeat(40) })}::jsonb where type = 'PushEvent'`,
  )
  const made = await replay(path)
  const done = await finish(made.url, made.id)
  assert.partialDeepStrictEqual(done, { status: 'done', total: 5, told: 2, passed_over: 3 })
  assert.deepEqual(await told(hook), ['issues opened', 'issue_comment created'])
})

test("a replay for an organization's hook covers all its repositories in order", async () => {
  for (const name of ['one', 'two']) await expect(201, await ada.post('/orgs/acme/repos', { name }))
  const elsewhere = await openPlace('issues')
  const hook = await hookOn(ada, 'orgs/acme', '*')
  const path = `/orgs/acme/hooks/${hook.id}/replays`
  forge.clock.advance(minute)
  for (const [title, repo] of Object.entries({ a: 'one', b: 'two', c: 'one', d: 'two' })) {
    await openIssue(`/repos/acme/${repo}`, title)
    forge.clock.advance(1000)
  }
  await openIssue(elsewhere.repo, 'e')
  const made = await replay(path, { events: ['issues'] })
  assert.equal((await finish(made.url, made.id)).told, 4)
  const titles = (await stored(hook))
    .map(({ body }) => JSON.parse(body))
    .map(({ issue, organization }) => [issue.title, organization.login])
  assert.deepEqual(
    titles,
    ['a', 'b', 'c', 'd'].map((title) => [title, 'acme']),
  )
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  const members = await replay(path, { events: ['organization'] })
  assert.equal((await finish(members.url, members.id)).told, 0, 'the log has events of repositories only')
  assert.equal((await ben.post(path, { since: ago(day) })).status, 404)
  assert.equal((await (await forge.tokenFor('ada', ['repo'])).get(path)).status, 403)
  const [octokit] = octokitsOf(forge, ada)
  const { data } = await octokit.request('GET /orgs/{org}/hooks/{hook_id}/replays', { org: 'acme', hook_id: hook.id })
  assert.deepEqual(pick(data, 'url'), [members.url, made.url])
})
