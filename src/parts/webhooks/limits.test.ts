import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { hooks, make, openWithEngine, url } from '#test/hooks.ts'

test('two hooks with the same config must have different events', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  const { id } = await make(ada, { config: { url }, events: ['push', 'fork'] })
  const taken = [{ resource: 'Hook', code: 'custom', message: 'Hook already exists on this repository' }]
  for (const events of [undefined, ['fork', 'star'], ['*']]) {
    const { errors } = await expect(422, await ada.post(hooks, { config: { url, secret: 'another' }, ...(events && { events }) }))
    assert.deepEqual(errors, taken)
  }
  const other = await make(ada, { config: { url }, events: ['star'] })
  await make(ada, { config: { url, content_type: 'json' }, events: ['*'] })
  await make(ada, { config: { url, insecure_ssl: '1' } })
  await make(ada, { config: { url }, events: [] })
  await expect(422, await ada.post(hooks, { config: { url, content_type: 'json' }, events: ['label'] }))
  await expect(422, await ada.patch(`${hooks}/${other.id}`, { add_events: ['push'] }))
  await expect(422, await ada.patch(`${hooks}/${id}/config`, { content_type: 'json' }))
  await expect(200, await ada.patch(`${hooks}/${id}`, { events: ['push'], config: { url } }))
  for (const _ of [1, 2]) await make(ada, { config: { url: 'belfry:listen' } })
  await expect(204, await ada.delete(`${hooks}/${id}`))
  await make(ada, { config: { url } })
})

test('of concurrent requests for the same hook, one succeeds', async () => {
  await using forge = await openWithEngine()
  const answers = await Promise.all(Array.from({ length: 6 }, () => forge.ada.post(hooks, { config: { url } })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422, 422, 422])
  const [{ id }] = await forge.ada.read(hooks)
  const events = ['fork', 'star', 'issues', 'label', 'watch', 'public']
  await Promise.all(events.map((event) => forge.ada.patch(`${hooks}/${id}`, { add_events: [event] })))
  assert.deepEqual((await forge.ada.read(`${hooks}/${id}`)).events.sort(), ['push', ...events].sort())
})

test('an event has at most 250 hooks in a repository', async () => {
  await using forge = await openWithEngine()
  const { ada, belfry } = forge
  const { id } = await make(ada, { config: { url }, events: ['fork'] })
  await belfry.db.query(sql`
    insert into hooks (repo_id, target_id, target_type, active, events, url, content_type, insecure_ssl, created_at, updated_at)
    select h.repo_id, h.target_id, h.target_type, true, case when i = 1 then array['*'] else array['push'] end, h.url || i, 'json', false,
      h.created_at, h.created_at
    from hooks h, generate_series(1, 249) i where h.id = ${id}`)
  const last = await make(ada, { config: { url: `${url}/last` } })
  const full = (event: string) => [
    { resource: 'Hook', code: 'custom', message: `The "${event}" event cannot have more than 250 hooks` },
  ]
  const fresh = { config: { url: `${url}/new` } }
  assert.deepEqual((await expect(422, await ada.post(hooks, fresh))).errors, full('push'))
  assert.deepEqual((await expect(422, await ada.post(hooks, { ...fresh, events: ['*'] }))).errors, full('push'))
  assert.deepEqual((await expect(422, await ada.patch(`${hooks}/${id}`, { add_events: ['push'] }))).errors, full('push'))
  await make(ada, { ...fresh, events: ['star'] })
  await expect(200, await ada.patch(`${hooks}/${last.id}`, { add_events: ['star'] }))
  await expect(204, await ada.delete(`${hooks}/${last.id}`))
  await expect(200, await ada.patch(`${hooks}/${id}`, { add_events: ['push'] }))
})
