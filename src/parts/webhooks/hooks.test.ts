import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { fineGrained } from '#test/conversations.ts'
import { expect, type Person, pick } from '#test/forge.ts'
import { hookStatuses, hooks, make, openWithEngine, url, waiting } from '#test/hooks.ts'

test('a hook is created with defaults, shown the same everywhere, and pinged', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  const answer = await ada.post(hooks, { config: { url } })
  const location = answer.headers.get('location')
  const hook = await expect(201, answer)
  const self = `${ada.base}${hooks}/${hook.id}`
  assert.equal(location, self)
  assert.deepEqual(hook, {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: true,
    events: ['push'],
    config: { content_type: 'form', insecure_ssl: '0', url },
    updated_at: '2026-02-03T04:05:06Z',
    created_at: '2026-02-03T04:05:06Z',
    url: self,
    test_url: `${self}/test`,
    ping_url: `${self}/pings`,
    deliveries_url: `${self}/deliveries`,
    last_response: { code: null, status: 'unused', message: null },
  })
  assert.deepEqual(await ada.read(`${hooks}/${hook.id}`), hook)
  assert.deepEqual(await ada.read(hooks), [hook])
  assert.deepEqual(await ada.read(`${hooks}/${hook.id}/config`), hook.config)
  const silent = await make(ada, { name: 'web', config: { url: 'belfry:listen' }, events: [], active: false })
  assert.deepEqual([silent.active, silent.events, silent.config.url], [false, [], 'belfry:listen'])
  assert.equal(await expect(204, await ada.post(`${hooks}/${silent.id}/pings`)), undefined)
  for (const [{ id }, count] of [
    [hook, 1],
    // An inactive hook is sent only what a user asks for.
    [silent, 1],
  ] as const) {
    const pings = await waiting(forge, id)
    assert.deepEqual(pick(pings, 'event', 'action'), Array(count).fill(['ping', null]))
  }
})

test('hooks are listed in order of creation', async () => {
  await using forge = await openWithEngine()
  const ids = []
  for (const index of [1, 2, 3]) ids.push((await make(forge.ada, { config: { url: `${url}/${index}` } })).id)
  const first = await forge.ada.get(`${hooks}?per_page=2`)
  assert.match(first.headers.get('link') ?? '', /page=2>; rel="next"/)
  assert.deepEqual(pick(await expect(200, first), 'id'), ids.slice(0, 2))
  const [last] = await forge.ada.read(`${hooks}?per_page=2&page=2`)
  assert.equal(last.id, ids[2])
})

test('an update keeps the fields that are not given', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  const { id } = await make(ada, { config: { url, content_type: 'json', insecure_ssl: 1 }, events: ['push', 'push', 'fork'] })
  forge.clock.advance(5000)
  const change = async (body: Record<string, unknown>) => expect(200, await ada.patch(`${hooks}/${id}`, body))
  const { events, config, updated_at, created_at } = await change({})
  assert.deepEqual([events, updated_at, created_at], [['push', 'fork'], '2026-02-03T04:05:11Z', '2026-02-03T04:05:06Z'])
  assert.deepEqual(config, { content_type: 'json', insecure_ssl: '1', url })
  assert.deepEqual((await change({ add_events: ['issues', 'push'], remove_events: ['fork'] })).events, ['push', 'issues'])
  assert.deepEqual((await change({ events: ['star'], add_events: ['fork', 'watch'], remove_events: ['star'] })).events, [
    'fork',
    'watch',
  ])
  assert.equal((await change({ active: false })).active, false)
  assert.deepEqual((await change({ events: ['*'] })).events, ['*'])
  assert.deepEqual((await change({ events: [] })).events, [])
  const named = async (body: Record<string, unknown>) => expect(200, await ada.patch(`${hooks}/${id}/config`, body))
  assert.deepEqual(await named({ insecure_ssl: '0' }), { content_type: 'json', insecure_ssl: '0', url })
  assert.deepEqual(await named({ url: `${url}?a=1` }), { content_type: 'json', insecure_ssl: '0', url: `${url}?a=1` })
  assert.deepEqual(await named({}), { content_type: 'json', insecure_ssl: '0', url: `${url}?a=1` })
  // A config replaces the former one.
  assert.deepEqual((await change({ config: { url } })).config, { content_type: 'form', insecure_ssl: '0', url })
  // Clients send the hook back with some fields changed.
  const shown = await ada.read(`${hooks}/${id}`)
  assert.equal((await change({ ...shown, active: true })).active, true)
})

test('the last response is shown for thirty days', async () => {
  await using forge = await openWithEngine()
  const { id } = await make(forge.ada)
  await forge.belfry.db.query(sql`
    update hooks set last_code = 404, last_status = 'misconfigured', last_message = 'Invalid HTTP Response: 404',
      last_delivered_at = ${forge.clock.now()} where id = ${id}`)
  const last = { code: 404, status: 'misconfigured', message: 'Invalid HTTP Response: 404' }
  forge.clock.advance(30 * 86_400_000)
  assert.deepEqual((await forge.ada.read(`${hooks}/${id}`)).last_response, last)
  forge.clock.advance(1000)
  assert.equal((await forge.ada.read(`${hooks}/${id}`)).last_response, null)
  assert.equal((await forge.ada.read(hooks))[0].last_response, null)
})

test('a hook with a new url is not throttled for the failures of the former one', async () => {
  await using forge = await openWithEngine()
  const { db } = forge.belfry
  const { id } = await make(forge.ada)
  const later = new Date(forge.clock.now().getTime() + 600_000)
  await db.query(sql`update hooks set failures = 20, throttled_until = ${later} where id = ${id}`)
  await db.query(
    sql`update pending_deliveries set ready_at = ${later}, throttled_at = ${forge.clock.now()} where hook_id = ${id}`,
  )
  const held = () =>
    db.first(sql`select failures, throttled_until is not null as throttled, ready_at > ${forge.clock.now()} as waits
      from hooks h join pending_deliveries u on u.hook_id = h.id where h.id = ${id}`)
  await expect(200, await forge.ada.patch(`${hooks}/${id}`, { events: ['push', 'fork'] }))
  assert.deepEqual(await held(), { failures: 20, throttled: true, waits: true })
  await expect(200, await forge.ada.patch(`${hooks}/${id}/config`, { url: `${url}/new` }))
  assert.deepEqual(await held(), { failures: 0, throttled: false, waits: false })
})

test('only administrators see hooks, and only with a suitable token', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  const { id } = await make(ada)
  const ben = await forge.person('ben')
  await ada.owns('secret', { private: true })
  await ada.owns('cold')
  const hidden = await expect(201, await ada.post('/repos/ada/secret/hooks', { config: { url } }))
  const calls = (person: Person, of = 'engine', hook_id = id) => hookStatuses(person, `/repos/ada/${of}/hooks`, hook_id)
  const nobody = await forge.nobody.get(hooks)
  assert.equal(nobody.status, 401)
  const none = Array(8).fill(404)
  assert.deepEqual(await calls(ben), none)
  assert.deepEqual(await calls(ben, 'secret', hidden.id), none)
  await expect(201, await ada.put('/repos/ada/engine/collaborators/ben', { permission: 'maintain' }))
  const [invitation] = await ben.read('/user/repository_invitations')
  await expect(204, await ben.patch(`/user/repository_invitations/${invitation.id}`))
  assert.deepEqual(await calls(ben), none)
  await expect(204, await ada.put('/repos/ada/engine/collaborators/ben', { permission: 'admin' }))
  const reads = [200, 200, 200, 204]
  // A 422 for the empty body shows that the caller was authorized.
  assert.deepEqual(await calls(ben), [...reads, 422, 200, 200, 404])
  // A hook of another repository is not found here.
  await expect(404, await ada.get(`/repos/ada/cold/hooks/${id}`))
  const by = async (...scopes: string[]) => calls(await forge.tokenFor('ada', scopes), 'secret', hidden.id)
  assert.deepEqual(await by('read:repo_hook'), [...reads, 403, 403, 403, 403])
  assert.deepEqual(await by('write:repo_hook'), [...reads, 422, 200, 200, 404])
  assert.deepEqual(await by('admin:repo_hook'), [...reads, 422, 200, 200, 404])
  assert.deepEqual(await by('repo'), [...reads, 422, 200, 200, 404])
  assert.deepEqual(await by('public_repo', 'admin:org_hook'), Array(8).fill(403))
  const fine = async (permissions: object) => calls(await fineGrained(forge, 'ada', permissions), 'secret', hidden.id)
  assert.deepEqual(await fine({ metadata: 'read', webhooks: 'read' }), [...reads, 403, 403, 403, 403])
  assert.deepEqual(await fine({ metadata: 'read', webhooks: 'write' }), [...reads, 422, 200, 200, 404])
  assert.deepEqual(await fine({ metadata: 'read', administration: 'write' }), Array(8).fill(403))
  await expect(200, await ada.patch('/repos/ada/cold', { archived: true }))
  await expect(403, await ada.post('/repos/ada/cold/hooks', { config: { url } }))
})
