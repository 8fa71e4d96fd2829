import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, mock, test } from 'node:test'
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks'
import { Webhook } from 'standardwebhooks'
import { engine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openWithTopic } from '#test/pulls.ts'
import { delivered, openReceiver, openServer, type Received } from '#test/webhooks.ts'

const forge = await openWithTopic({ worker: true })
after(() => forge[Symbol.asyncDispose]())
const { ada, ben, clock } = forge

const hookTo = async (url: string, config: Record<string, string>, events = ['*']) =>
  expect(201, await ada.post(`${engine}/hooks`, { config: { url, ...config }, events }))
const ping = async ({ id }: { id: number }) => expect(204, await ada.post(`${engine}/hooks/${id}/pings`))

/** Whether the Standard Webhooks library accepts a delivery at the time of the test clock. */
function isStandard({ headers, body }: Received, secret: string, now = clock.now()) {
  const webhook = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' })
  mock.timers.enable({ apis: ['Date'], now })
  try {
    webhook.verify(body, headers as Record<string, string>, { jsonParse: false })
    return true
  } catch {
    return false
  } finally {
    mock.timers.reset()
  }
}

const isOctokit = ({ headers, body }: Received, secret: string) =>
  new Webhooks({ secret }).verify(body.toString(), String(headers['x-hub-signature-256']))

/** A receiver as in the library's documentation. */
async function openOctokit(secret: string) {
  const names: string[] = []
  const webhooks = new Webhooks({ secret })
  webhooks.onAny(({ name }) => void names.push(name))
  webhooks.onError(() => {})
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const server = createServer(createNodeMiddleware(webhooks, { path: '/', log: silent }))
  return { ...(await openServer(server)), names }
}

/** Triggers every event except those of imports and of the hook's deletion. */
async function actInEveryWay() {
  await expect(204, await ada.put('/user/starred/ada/engine'))
  await forge.open({ title: 'Ümläute, 😀 & %41+=' })
  await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: 'It smokes' }))
  await expect(201, await ada.post(`${engine}/labels`, { name: 'hot', color: 'ff0000' }))
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'Spring' }))
  await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  await expect(201, await ada.post(`${engine}/commits/${forge.main}/comments`, { body: 'So it begins' }))
  const { number } = await forge.propose()
  await expect(200, await ben.post(`${engine}/pulls/${number}/reviews`, { event: 'COMMENT', body: 'Hm' }))
  const line = { body: 'Why?', commit_id: forge.topic, path: 'notes.txt', line: 1, side: 'RIGHT' }
  await expect(201, await ben.post(`${engine}/pulls/${number}/comments`, line))
  await forge.work.push('main:refs/heads/stable')
  await forge.work.push(':refs/heads/stable')
  await expect(202, await ben.post(`${engine}/forks`))
  await expect(200, await ada.patch(engine, { description: 'It computes', private: true }))
  await expect(200, await ada.patch(engine, { private: false }))
  await expect(204, await ada.delete(`${engine}/collaborators/cy`))
}
const kinds =
  'commit_comment create delete fork issue_comment issues label member milestone ping public pull_request pull_request_review pull_request_review_comment push release repository star watch'

test('libraries for receivers verify every event with the secret, and reject another secret', async () => {
  const [secret, wrong] = ["It's a secret", "It's another"]
  const standard = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
  await using octokit = await openOctokit(secret)
  await using stranger = await openOctokit(wrong)
  await using receiver = await openReceiver()
  await using form = await openReceiver()
  await using unsigned = await openReceiver()
  await using own = await openReceiver()
  const json = { content_type: 'json' }
  const taken = await hookTo(octokit.url, { ...json, secret })
  const refused = await hookTo(stranger.url, { ...json, secret })
  const hook = await hookTo(receiver.url, { ...json, secret })
  await hookTo(form.url, { secret })
  await hookTo(unsigned.url, json)
  await hookTo(own.url, { ...json, secret: standard })
  await actInEveryWay()
  const { db } = forge.belfry
  await until('nothing waits', async () => (await db.pool.query('select from pending_deliveries')).rowCount === 0)

  const { length } = receiver.received
  const events = receiver.received.map(({ headers }) => String(headers['x-github-event'])).sort()
  assert.equal([...new Set(events)].join(' '), kinds)
  assert.deepEqual(octokit.names.sort(), events)
  for (const { status } of await delivered(ada, taken, length)) assert.equal(status, 'OK')
  assert.deepEqual(stranger.names, [])
  for (const { status } of await delivered(ada, refused, length)) assert.equal(status, 'Invalid HTTP Response: 400')

  for (const [{ received }, key] of [
    [receiver, secret],
    [form, secret],
    [own, standard],
  ] as const) {
    assert.deepEqual(received.map(({ headers }) => String(headers['x-github-event'])).sort(), events)
    for (const one of received) {
      const name = String(one.headers['x-github-event'])
      assert.ok(await isOctokit(one, key), name)
      assert.ok(isStandard(one, key), name)
      assert.ok(!(await isOctokit(one, wrong)), name)
      assert.ok(!isStandard(one, wrong), name)
      const changed = { ...one, body: Buffer.from(one.body).fill('~', 20, 21) }
      assert.ok(!(await isOctokit(changed, key)), name)
      assert.ok(!isStandard(changed, key), name)
      const late = new Date(clock.now().getTime() + 301_000)
      assert.ok(!isStandard(one, key, late), 'a replay is refused')
    }
  }
  // Pings differ, because each contains its own hook.
  const told = ({ received }: { received: Received[] }) =>
    received.flatMap(({ json: payload }) => (payload.zen ? [] : JSON.stringify(payload))).sort()
  assert.deepEqual(told(form), told(receiver))
  for (const { headers } of unsigned.received)
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.includes('signature')),
      [],
    )

  await expect(204, await ada.delete(`${engine}/hooks/${hook.id}`))
  await receiver.first(length + 1)
  const meta = receiver.received.at(-1) as Received
  assert.equal(meta.headers['x-github-event'], 'meta')
  assert.ok((await isOctokit(meta, secret)) && isStandard(meta, secret))
})

test('a request has all headers in both spellings, and the delivery shows them', async () => {
  await using receiver = await openReceiver()
  const hook = await hookTo(receiver.url, { secret: 's' }, ['release'])
  const [delivery] = await delivered(ada, hook)
  const [{ headers, body }] = receiver.received as [Received]
  const told = (family: string) => ({
    [`${family}-delivery`]: delivery.guid,
    [`${family}-event`]: 'ping',
    [`${family}-hook-id`]: String(hook.id),
    [`${family}-hook-installation-target-id`]: String(forge.id),
    [`${family}-hook-installation-target-type`]: 'repository',
  })
  const { 'x-hub-signature': sha1, 'x-hub-signature-256': sha256, 'webhook-signature': v1, ...rest } = headers
  assert.deepEqual(rest, {
    ...{ host: new URL(receiver.url).host, connection: 'keep-alive', 'content-length': String(body.length) },
    ...{ accept: '*/*', 'user-agent': 'Belfry-Hookshot/0.0.0-test', 'content-type': 'application/x-www-form-urlencoded' },
    ...{ 'webhook-id': delivery.guid, 'webhook-timestamp': String(Math.floor(clock.now().getTime() / 1000)) },
    ...told('x-service'),
    ...told('x-github'),
  })
  assert.match(`${sha1} ${sha256} ${v1}`, /^sha1=[0-9a-f]{40} sha256=[0-9a-f]{64} v1,[\w+/]{43}=$/)
  const { host, connection, 'content-length': _, ...shown } = headers
  const lower = Object.entries(delivery.request.headers).map(([name, value]) => [name.toLowerCase(), value])
  assert.deepEqual(Object.fromEntries(lower), shown)
})

test('a replaced secret signs for a day beside the new one', async () => {
  await using receiver = await openReceiver()
  const hook = await hookTo(receiver.url, { content_type: 'json', secret: 'old' }, ['release'])
  await receiver.first(1)
  await expect(200, await ada.patch(`${engine}/hooks/${hook.id}/config`, { secret: 'new' }))
  const verified = async () => {
    const { length } = receiver.received
    await ping(hook)
    const one = (await receiver.first(length + 1)).at(-1) as Received
    return [isStandard(one, 'old'), isStandard(one, 'new'), await isOctokit(one, 'old'), await isOctokit(one, 'new')]
  }
  assert.deepEqual(await verified(), [true, true, false, true])
  clock.advance(86_399_000)
  assert.deepEqual(await verified(), [true, true, false, true])
  clock.advance(1000)
  assert.deepEqual(await verified(), [false, true, false, true])
})
