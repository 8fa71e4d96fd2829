import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine } from '#test/conversations.ts'
import { expect, pick } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openWithTopic } from '#test/pulls.ts'
import { hookOn, openReceiver } from '#test/webhooks.ts'
import { continueReplay } from './run-replay.ts'

/** Acts that the log has nothing of, or another's: they are told when they happen, and never again. */
const notLogged = ['label', 'milestone', 'ping', 'meta']

interface Told {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape, and the assertions are their types.
  payload: any
}

test('what is told again has the shape that it was told in, of every kind that the log has', async () => {
  await using forge = await openWithTopic()
  const { ada, ben, cy, dan, work, propose, main, clock } = forge
  const { db, storage } = forge.belfry
  const hook = await hookOn(ada, 'repos/ada/engine', '*')
  clock.advance(60_000)
  const since = clock.now().toISOString()
  await db.query(sql`delete from pending_deliveries`)
  const { number: pull } = await propose()
  await expect(
    201,
    await ada.post(`${engine}/pulls/${pull}/comments`, {
      body: 'Here',
      commit_id: forge.topic,
      path: 'notes.txt',
      line: 1,
      side: 'RIGHT',
    }),
  )
  await expect(200, await ben.post(`${engine}/pulls/${pull}/reviews`, { event: 'APPROVE', body: 'Fine' }))
  const { number } = await expect(
    201,
    await ada.post(`${engine}/issues`, { title: 'Smoke', labels: ['bug'], assignees: ['ben'] }),
  )
  await expect(201, await cy.post(`${engine}/issues/${number}/comments`, { body: 'So it does' }))
  await expect(200, await ada.patch(`${engine}/issues/${number}`, { state: 'closed' }))
  await expect(200, await ada.patch(`${engine}/issues/${number}`, { state: 'open' }))
  await expect(201, await ben.post(`${engine}/commits/${main}/comments`, { body: 'Why?' }))
  await expect(204, await dan.put('/user/starred/ada/engine'))
  await expect(202, await dan.post(`${engine}/forks`))
  await work.commit('More', { 'more.txt': 'more\n' })
  await work.push('topic')
  await work.push('topic:side')
  await work.push('topic:refs/tags/v1')
  await work.push(':side')
  await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1', name: 'First' }))
  const { id: invitation } = await expect(201, await ada.put(`${engine}/collaborators/dan`, { permission: 'pull' }))
  await expect(204, await dan.patch(`/user/repository_invitations/${invitation}`))
  await expect(200, await ada.patch(engine, { private: true }))
  await expect(200, await ada.patch(engine, { private: false }))
  const read = async (redelivery: boolean): Promise<Told[]> =>
    (
      await db.rows<{ event: string; body: string }>(sql`
        select u.event, p.body from pending_deliveries u join payloads p on p.id = u.payload_id
        where u.hook_id = ${hook.id} and u.redelivery = ${redelivery} order by u.id`)
    ).map(({ event, body }) => ({ event, payload: JSON.parse(body) }))
  const live = (await read(false)).filter(({ event }) => !notLogged.includes(event))
  clock.advance(60_000)
  const made = await expect(202, await ada.post(`${engine}/hooks/${hook.id}/replays`, { since }))
  await continueReplay(db, storage, made.id)
  const { status, total, told, passed_over } = await ada.read(made.url)
  assert.deepEqual([status, told, passed_over], ['done', total, 0])
  const again = await read(true)
  const name = ({ event, payload }: Told) => [event, payload.action, payload.ref, payload.label?.name].filter(Boolean).join(' ')
  const names = again.map(name)
  for (const expected of [
    ...['pull_request opened', 'pull_request_review submitted', 'pull_request_review_comment created'],
    ...['issues opened', 'issues labeled bug', 'issues assigned', 'issues closed', 'issues reopened', 'issue_comment created'],
    ...['commit_comment created', 'watch started', 'star created', 'fork', 'push refs/heads/topic', 'create side', 'create v1'],
    ...['delete side', 'release published', 'member added', 'public', 'repository publicized'],
  ]) {
    assert.ok(names.includes(expected), expected)
  }
  for (const one of again) {
    const first = live.find((other) => name(other) === name(one) && other.payload.sender.login === one.payload.sender.login)
    assert.ok(first, name(one))
    // What somebody was allowed to do before is not in the log.
    const { changes: _, ...payload } = first.payload
    assert.deepEqual(shapeOf(one.payload), shapeOf(payload), name(one))
  }
  const pushes = [live, again].map((list) =>
    list.filter((one) => name(one) === 'push refs/heads/topic').map(({ payload }) => payload),
  )
  for (const key of ['ref', 'before', 'after', 'created', 'forced', 'base_ref', 'compare', 'commits', 'head_commit', 'pusher']) {
    assert.deepEqual(pushes[1]?.[0][key], pushes[0]?.[0][key], key)
  }
})

/** The keys of an object, two deep. */
function shapeOf(payload: object, depth = 2): unknown {
  if (depth === 0 || payload === null || typeof payload !== 'object' || Array.isArray(payload)) return undefined
  return Object.fromEntries(
    Object.entries(payload)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, shapeOf(value, depth - 1)]),
  )
}

test('a replay is worked off in the background and comes to the receiver, one after the other', async () => {
  await using forge = await openWithTopic({ worker: true })
  const { ada, clock, open } = forge
  await using receiver = await openReceiver()
  for (const title of ['One', 'Two', 'Three']) await open({ title })
  clock.advance(1000)
  const config = { url: receiver.url, content_type: 'json' }
  const { id } = await expect(201, await ada.post(`${engine}/hooks`, { config, events: ['issues'] }))
  await receiver.first(1)
  const since = new Date(clock.now().getTime() - 60_000).toISOString()
  const { url } = await expect(202, await ada.post(`${engine}/hooks/${id}/replays`, { since }))
  await until('the replay is done', async () => (await ada.read(url)).status === 'done')
  await until('all of it came', () => {
    clock.advance(100)
    return receiver.received.length >= 4
  })
  const [, ...told] = receiver.received
  assert.deepEqual(
    told.map(({ json }) => json.issue.title),
    ['One', 'Two', 'Three'],
  )
  await until('all of it is recorded', async () => (await ada.read(`${engine}/hooks/${id}/deliveries`)).length === 4)
  const deliveries = await ada.read(`${engine}/hooks/${id}/deliveries`)
  assert.deepEqual(pick(deliveries, 'redelivery'), [true, true, true, false])
})
