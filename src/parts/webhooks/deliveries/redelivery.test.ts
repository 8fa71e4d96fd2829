import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '#platform/database.ts'
import { Contract, type Fault, type VariantName } from '#test/activity/schemas.ts'
import { type Client, expect, openForge, pick } from '#test/forge.ts'
import { octokitsOf } from '#test/inbox.ts'
import { until } from '#test/machine.ts'
import { hookOn, openReceiver } from '#test/webhooks.ts'

const forge = await openForge({ worker: true })
after(() => forge[Symbol.asyncDispose]())
const { db } = forge.belfry
const ada = await forge.person('ada')

/** Waits until all deliveries are recorded. */
const settled = () =>
  until('nothing waits', async () => !(await db.first(sql`select from pending_deliveries where ready_at <= ${db.now}`)))

/** Commits a file and returns the commit. */
async function write(name: string, message: string): Promise<string> {
  const file = { message, content: btoa(message) }
  return (await expect(201, await ada.put(`/repos/ada/${name}/contents/${message}.txt`, file))).commit.sha
}

/** A repository with a push, and a hook with a receiver. */
async function openPlace(name: string, url: string, ...events: string[]) {
  await ada.owns(name)
  await write(name, 'first')
  const path = `/repos/ada/${name}/hooks`
  const { id } = await expect(201, await ada.post(path, { config: { url, content_type: 'json', secret: 's' }, events }))
  return { id: id as number, path: `${path}/${id}`, repo: { owner: 'ada', repo: name } }
}

test('a public client lists, reads and repeats deliveries, which match the public documentation', async () => {
  await using receiver = await openReceiver()
  const { id: hook_id, path, repo } = await openPlace('engine', receiver.url, 'issues')
  for (const title of ['One', 'Two', 'Three']) await expect(201, await ada.post('/repos/ada/engine/issues', { title }))
  await receiver.first(4)
  await settled()
  for (const [octokit, name] of octokitsOf(forge, ada).map((one, index) => [one, ['self-hosted', 'versioned'][index]] as const)) {
    const all = await octokit.paginate(octokit.rest.repos.listWebhookDeliveries, { ...repo, hook_id, per_page: 2 })
    assert.deepEqual(pick(all.slice(-4), 'event', 'action', 'status_code', 'redelivery'), [
      ...Array(3).fill(['issues', 'opened', 200, false]),
      ['ping', null, 200, false],
    ])
    const { id: delivery_id } = all.at(-2) ?? { id: 0 }
    const { data: delivery } = await octokit.rest.repos.getWebhookDelivery({ ...repo, hook_id, delivery_id })
    const seen = receiver.received.find(({ headers }) => headers['x-github-delivery'] === delivery.guid)
    assert.deepEqual(delivery.request.payload, seen?.json)
    for (const [key, value] of Object.entries(delivery.request.headers ?? {}))
      assert.equal(seen?.headers[key.toLowerCase()], value, key)
    assert.equal(delivery.response.payload, 'ok')
    const before = receiver.received.length
    const { status, data } = await octokit.rest.repos.redeliverWebhookDelivery({ ...repo, hook_id, delivery_id })
    assert.deepEqual([status, data], [202, {}])
    const again = (await receiver.first(before + 1)).at(-1)
    assert.deepEqual([again?.headers['x-github-delivery'], again?.json], [delivery.guid, seen?.json])
    await settled()
    const [latest] = (await octokit.rest.repos.listWebhookDeliveries({ ...repo, hook_id, per_page: 1, status: 'success' })).data
    assert.partialDeepStrictEqual(latest, { guid: delivery.guid, redelivery: true, event: 'issues', action: 'opened' })
    await checkContract(name as VariantName, name === 'versioned' ? ada.versioned : ada, path, delivery_id)
  }
})

async function checkContract(name: VariantName, client: Client, path: string, delivery_id: number) {
  const contract = Contract.of(name)
  const check = async (operation: string, status: number, answer: Response): Promise<Fault[]> =>
    contract.check(operation, status, 'application/json', await expect(status, answer))
  const faults = [
    ...(await check('repos/list-webhook-deliveries', 200, await client.get(`${path}/deliveries`))),
    ...(await check('repos/get-webhook-delivery', 200, await client.get(`${path}/deliveries/${delivery_id}`))),
    ...(await check('repos/redeliver-webhook-delivery', 202, await client.post(`${path}/deliveries/${delivery_id}/attempts`))),
  ]
  // Only here do times have milliseconds, as in the public API.
  const others = faults.filter(({ path: place, message }) => !(place.endsWith('/delivered_at') && message.includes('date-time')))
  assert.deepEqual(others, [])
}

test('a test sends the stored payload of the latest push, or composes it, and nothing to a hook without subscription', async () => {
  await using receiver = await openReceiver()
  const { id: hook_id, path, repo } = await openPlace('mill', receiver.url, 'push')
  const pushes = () => receiver.received.filter(({ headers }) => headers['x-github-event'] === 'push')
  const heard = (count: number) => until(`${count} pushes came`, () => pushes().length >= count)
  // The first push happened before the hook existed.
  const [octokit] = octokitsOf(forge, ada)
  assert.equal((await octokit.rest.repos.testPushWebhook({ ...repo, hook_id })).status, 204)
  await heard(1)
  const [composed] = pushes()
  const { sha: begun } = await ada.read('/repos/ada/mill/commits/main')
  assert.partialDeepStrictEqual(composed?.json, {
    ...{ ref: 'refs/heads/main', before: '0'.repeat(40), after: begun, created: true },
    ...{ pusher: { name: 'ada' }, sender: { login: 'ada' }, repository: { full_name: 'ada/mill' } },
    head_commit: { id: begun },
  })
  assert.equal(composed?.json.commits.length, 1)
  const second = await write('mill', 'second')
  await heard(2)
  forge.clock.advance(86_400_000)
  await expect(200, await ada.patch('/repos/ada/mill', { description: 'Otherwise than it was' }))
  await expect(204, await ada.post(`${path}/test`))
  await heard(3)
  const [, told, tested] = pushes()
  assert.equal(tested?.json.after, second)
  assert.deepEqual(tested?.body, told?.body)
  assert.notEqual(tested?.headers['x-github-delivery'], told?.headers['x-github-delivery'])
  await settled()
  const deaf = await hookOn(ada, 'repos/ada/mill', 'issues')
  await db.query(sql`delete from pending_deliveries`)
  await expect(204, await ada.post(`/repos/ada/mill/hooks/${deaf.id}/tests`))
  await ada.owns('empty')
  const idle = await hookOn(ada, 'repos/ada/empty', '*')
  await db.query(sql`delete from pending_deliveries`)
  await expect(204, await ada.post(`/repos/ada/empty/hooks/${idle.id}/tests`))
  assert.deepEqual(await db.rows(sql`select event from pending_deliveries`), [])
  assert.equal(pushes().length, 3)
})

test('a test sends the latest push to any ref: a branch or tag without commits of its own, or a deleted one', async () => {
  await using receiver = await openReceiver()
  const { path } = await openPlace('loom', receiver.url, 'push')
  const latest = async () => {
    const before = receiver.received.length
    await expect(204, await ada.post(`${path}/tests`))
    const sent = (await receiver.first(before + 1)).at(-1)?.json
    return [sent.ref, sent.before, sent.after, sent.created, sent.deleted, sent.commits.length, sent.head_commit?.id ?? null]
  }
  const { sha } = await ada.read('/repos/ada/loom/commits/main')
  const none = '0'.repeat(40)
  const refs = '/repos/ada/loom/git/refs'
  // The payload of the first of each is not stored, because the hook did not subscribe at that time.
  for (const subscribed of [false, true]) {
    for (const ref of ['refs/heads/side', 'refs/tags/v1']) {
      const act = async (send: () => Promise<unknown>) => {
        await expect(200, await ada.patch(path, { events: [subscribed ? 'push' : 'issues'] }))
        await send()
        await settled()
        await expect(200, await ada.patch(path, { events: ['push'] }))
      }
      await act(async () => expect(201, await ada.post(refs, { ref, sha })))
      assert.deepEqual(await latest(), [ref, none, sha, true, false, 0, sha])
      await act(async () => expect(204, await ada.delete(`/repos/ada/loom/git/${ref}`)))
      assert.deepEqual(await latest(), [ref, sha, none, false, true, 0, null])
    }
  }
})

test('one rule for an inactive hook: what a user requests is sent, and nothing else', async () => {
  await using receiver = await openReceiver()
  const { path } = await openPlace('oven', receiver.url, '*')
  await receiver.first(1)
  await expect(200, await ada.patch(path, { active: false }))
  const sent = async (act: () => Promise<unknown>) => {
    const before = receiver.received.length
    await act()
    await settled()
    return receiver.received.slice(before).map(({ headers }) => headers['x-github-event'])
  }
  const post = (what: string) =>
    sent(async () => expect(what.endsWith('attempts') ? 202 : 204, await ada.post(`${path}/${what}`)))
  assert.deepEqual(await sent(() => write('oven', 'more')), [])
  assert.deepEqual(await post('pings'), ['ping'])
  assert.deepEqual(await post('tests'), ['push'])
  const [{ id }] = await ada.read(`${path}/deliveries`)
  assert.deepEqual(await post(`deliveries/${id}/attempts`), ['push'])
  const refused = await expect(422, await ada.post(`${path}/replays`, { since: '2026-02-03T00:00:00Z' }))
  assert.match(refused.message, /This webhook is inactive/)
})
