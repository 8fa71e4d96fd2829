import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { hooks, openWithEngine, url } from '#test/hooks.ts'
import { purgeHooks } from './delete.ts'
import type { Hook } from './hooks.ts'
import { hookContext, openSecrets } from './secrets.ts'

const day = 86_400_000

/** A hook with this secret, and functions that change it and read the stored secrets. */
async function openWithHook(secret?: string) {
  const forge = await openWithEngine()
  const { ada } = forge
  const made = await expect(201, await ada.post(hooks, { config: { url, ...(secret !== undefined && { secret }) } }))
  const row = async () => {
    const hook = await forge.belfry.db.first<Hook>(sql`select * from hooks where id = ${made.id}`)
    assert.ok(hook)
    return hook
  }
  return Object.assign(forge, {
    made,
    row,
    signing: async () => openSecrets(forge.belfry.vault, await row(), forge.clock.now()),
    change: async (body: Record<string, unknown>) => expect(200, await ada.patch(`${hooks}/${made.id}`, body)),
    config: async (body: Record<string, unknown>) => expect(200, await ada.patch(`${hooks}/${made.id}/config`, body)),
  })
}

test('a secret is never shown or logged, and is stored encrypted', async () => {
  await using forge = await openWithHook('first secret')
  const { ada, made } = forge
  const stars = { content_type: 'form', insecure_ssl: '0', secret: '********', url }
  const shown = [made, await ada.read(hooks), await ada.read(`${hooks}/${made.id}`), await forge.change({ active: false })]
  for (const one of shown) assert.ok(!JSON.stringify(one).includes('secret'))
  assert.deepEqual(await ada.read(`${hooks}/${made.id}/config`), stars)
  assert.deepEqual(await forge.config({ secret: 'second secret' }), stars)
  const { secret, former_secret } = await forge.row()
  assert.ok(secret && former_secret && !secret.includes('second') && !former_secret.includes('first'))
  const payloads = await forge.belfry.db.rows<{ body: string }>(sql`select body from payloads`)
  assert.ok(payloads.length > 0)
  for (const { body } of payloads) assert.ok(!/first|second|\*\*/.test(body))
  assert.ok(forge.logged.length > 0)
  for (const line of forge.logged) assert.ok(!/(first|second) secret/.test(line), line)
  // It is encrypted for this hook, so it cannot be decrypted for another.
  assert.throws(() => forge.belfry.vault.open(secret, hookContext(made.id + 1)))
})

test('a replaced secret signs for another day', async () => {
  await using forge = await openWithHook('one')
  assert.deepEqual(await forge.signing(), { secret: 'one', former_secret: null })
  await forge.config({ secret: 'two' })
  assert.deepEqual(await forge.signing(), { secret: 'two', former_secret: 'one' })
  forge.clock.advance(day / 2)
  // The same secret or the mask changes nothing, not even the end of the former secret.
  for (const secret of ['two', '********']) {
    await forge.config({ secret })
    await forge.change({ config: { url, secret } })
  }
  await forge.config({ content_type: 'json' })
  await forge.change({ active: false })
  assert.deepEqual(await forge.signing(), { secret: 'two', former_secret: 'one' })
  forge.clock.advance(day / 2 - 1)
  assert.deepEqual(await forge.signing(), { secret: 'two', former_secret: 'one' })
  forge.clock.advance(1)
  assert.deepEqual(await forge.signing(), { secret: 'two', former_secret: null })
  await purgeHooks(forge.belfry.db)
  const { former_secret, former_secret_until } = await forge.row()
  assert.deepEqual([former_secret, former_secret_until], [null, null])
  await forge.change({ config: { url, secret: 'three' } })
  await forge.change({ config: { url, secret: 'four' } })
  assert.deepEqual(await forge.signing(), { secret: 'four', former_secret: 'three' })
})

test('a secret is removed by a config without it, and only then', async () => {
  await using forge = await openWithHook('one')
  const gone = { secret: null, former_secret: null }
  const removals: [what: string, remove: () => Promise<unknown>][] = [
    ['a whole config without it', () => forge.change({ config: { url } })],
    ['an empty one', () => forge.change({ config: { url, secret: '' } })],
    ['null', () => forge.change({ config: { url, secret: null } })],
    ['an empty one by name', () => forge.config({ secret: '' })],
    ['null by name', () => forge.config({ secret: null })],
  ]
  for (const [what, remove] of removals) {
    await forge.config({ secret: 'two' })
    await forge.config({ secret: 'three' })
    for (const _ of [1, 2]) {
      await remove()
      assert.deepEqual(await forge.signing(), gone, what)
    }
    assert.equal((await forge.ada.read(`${hooks}/${forge.made.id}/config`)).secret, undefined, what)
  }
  await forge.config({ secret: 'four' })
  assert.deepEqual(await forge.signing(), { secret: 'four', former_secret: null }, 'there was none before it')
  await forge.config({ url: `${url}/2`, insecure_ssl: 1 })
  await forge.change({ events: ['*'], active: true })
  assert.deepEqual(await forge.signing(), { secret: 'four', former_secret: null })
})

test('a hook made with an empty secret has none', async () => {
  await using forge = await openWithHook('')
  assert.equal((await forge.row()).secret, null)
  assert.equal((await forge.ada.read(`${hooks}/${forge.made.id}/config`)).secret, undefined)
})
