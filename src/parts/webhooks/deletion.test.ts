import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, pick } from '#test/forge.ts'
import { hooks, make, openWithEngine, url, waiting } from '#test/hooks.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { purgeHooks } from './delete.ts'

test('a deleted hook disappears at once, is sent a meta event if it subscribes, and is purged later', async () => {
  await using forge = await openWithEngine()
  const { ada, belfry } = forge
  const plain = await make(ada)
  const meta = await make(ada, { config: { url: `${url}/meta`, secret: 'hidden' }, events: ['meta'] })
  const all = await make(ada, { config: { url: `${url}/all` }, events: ['*'] })
  const idle = await make(ada, { config: { url: `${url}/idle` }, events: ['*'], active: false })
  for (const { id } of [plain, meta, all, idle]) {
    await expect(204, await ada.delete(`${hooks}/${id}`))
    for (const path of ['', '/config']) await expect(404, await ada.get(`${hooks}/${id}${path}`))
    await expect(404, await ada.patch(`${hooks}/${id}`, {}))
    await expect(404, await ada.post(`${hooks}/${id}/pings`))
    await expect(404, await ada.delete(`${hooks}/${id}`))
  }
  assert.deepEqual(await ada.read(hooks), [])
  for (const { id } of [plain, idle]) assert.deepEqual(await waiting(forge, id), [])
  for (const { id } of [meta, all]) {
    const [word, ...more] = await waiting(forge, id)
    assert.deepEqual([word?.event, word?.action, more], ['meta', 'deleted', []])
  }
  const left = () => belfry.db.rows<{ id: number }>(sql`select id from hooks order by id`)
  await purgeHooks(belfry.db)
  assert.equal((await left()).length, 4)
  forge.clock.advance(30 * 86_400_000 + 1000)
  await purgeHooks(belfry.db)
  assert.deepEqual(await left(), [{ id: meta.id }, { id: all.id }])
  await belfry.db.query(sql`delete from pending_deliveries`)
  await purgeHooks(belfry.db)
  assert.deepEqual(await left(), [])
})

test('the hooks of a deleted repository end with it, and their pending deliveries stay', async () => {
  await using forge = await openWithEngine()
  const { id } = await make(forge.ada)
  await expect(204, await forge.ada.delete('/repos/ada/engine'))
  const row = await forge.belfry.db.first<object>(sql`select repo_id, deleted_at from hooks where id = ${id}`)
  assert.deepEqual(row, { repo_id: null, deleted_at: forge.clock.now() })
  assert.deepEqual(pick(await waiting(forge, id), 'event'), ['ping'])
  await forge.ada.owns('engine')
  assert.deepEqual(await forge.ada.read(hooks), [])
  await expect(404, await forge.ada.get(`${hooks}/${id}`))
})

test('payloads of pings and deletions match the public schemas', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  const hook = await make(ada, { config: { url, secret: 'hidden', content_type: 'json' }, events: ['push', 'meta'] })
  const read = async () => (await waiting(forge, hook.id)).map(({ payload }) => payload)
  const [ping] = await read()
  checkPayload('ping', ping)
  assert.deepEqual(ping.hook, hook)
  assert.deepEqual([ping.hook_id, ping.repository.full_name, ping.sender.login], [hook.id, 'ada/engine', 'ada'])
  assert.ok(ping.zen.length > 10)
  await expect(204, await ada.delete(`${hooks}/${hook.id}`))
  const [meta] = await read()
  checkPayload('meta', meta)
  const { type, id, name, active, events, config, updated_at, created_at } = hook
  assert.deepEqual(meta.hook, { type, id, name, active, events, config, updated_at, created_at })
  assert.equal(meta.repository.url, `${ada.base}/repos/ada/engine`)
})
