import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { readKeys, writeKeys } from '#platform/key-file.ts'
import { Vault } from '#platform/vault.ts'
import { expect, openForge } from '#test/forge.ts'
import { operatorOf } from '#test/operator.ts'

/** A server of its own, because others read the key of a shared one in their tests. */
async function openSealed() {
  const forge = await openForge({ own_database: true })
  const { db, vault, settings } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const config = { url: 'https://hooks.example.com/', secret: 'shared word' }
  const { id } = await expect(201, await ada.post('/repos/ada/engine/hooks', { config, events: ['push'] }))
  const { id: user_id } = await ada.read('/user')
  await db.query(sql`insert into two_factor (user_id, kind, secret, last_step, enabled_at)
    values (${user_id}, 'app', ${vault.seal('seed', `two-factor ${user_id}`)}, 0, ${db.now})`)
  await db.query(sql`insert into page_states (digest, user_id, content, expires_at)
    values ('\\x01', ${user_id}, ${vault.seal('{}', `draft ${user_id}`)}, ${db.now})`)
  const secretsOf = async () => {
    const [row] = await db.rows<{ hook: Buffer; seed: Buffer }>(
      sql`select h.secret as hook, t.secret as seed from hooks h, two_factor t`,
    )
    return row ?? { hook: Buffer.alloc(0), seed: Buffer.alloc(0) }
  }
  return {
    forge,
    vault,
    path: join(settings.BELFRY_DATA, 'secrets.key'),
    hook: `hook ${id}`,
    user: `two-factor ${user_id}`,
    secretsOf,
  }
}

test('a rotation encrypts all secrets with a new key, and a running server goes on', async () => {
  const { forge, vault, path, hook, user, secretsOf } = await openSealed()
  await using _ = forge
  const operator = operatorOf(forge)
  const before = { ...(await secretsOf()), key: readKeys(path).current, feed: vault.derive('feeds of user 1') }
  assert.match((await operator.run('keys', 'rotate')).stderr, /Make a backup first\. Add --yes to do it\.$/)
  assert.deepEqual(await operator.data('keys', 'rotate', '--yes', '--wait', '0'), { renewed: 3, unreadable: [], resumed: false })
  const keys = readKeys(path)
  assert.notDeepEqual(keys.current, before.key)
  assert.deepEqual([keys.next, keys.former], [null, null], 'the former key opens nothing any more, and is gone')
  const after = await secretsOf()
  assert.deepEqual([vault.open(after.hook, hook), vault.open(after.seed, user)], ['shared word', 'seed'])
  assert.throws(() => new Vault(join(path, '..')).open(before.seed, user))
  assert.deepEqual(vault.derive('feeds of user 1'), before.feed, 'addresses of private feeds stay')
  await operator.data('keys', 'rotate', '--yes', '--wait', '0', '--derived')
  assert.equal(vault.open((await secretsOf()).seed, user), 'seed')
  assert.notDeepEqual(vault.derive('feeds of user 1'), before.feed)
  assert.match(await operator.text('doctor', '--depth', 'quick'), /^ok +secrets +The key opens all 3 stored secrets\.$/m)
})

test('an interrupted rotation goes on where it was', async () => {
  const { forge, vault, path, hook, secretsOf } = await openSealed()
  await using _ = forge
  const operator = operatorOf(forge)
  const first = readKeys(path)
  const next = Buffer.alloc(32, 7)
  writeKeys(path, { ...first, next })
  assert.match(await operator.text('doctor', '--depth', 'quick'), /^warning +secrets +A rotation of the keys did not finish\./m)
  assert.match((await operator.run('keys', 'rotate', '--yes', '--derived')).stderr, /^An interrupted rotation is finished first/)
  assert.deepEqual(await operator.data('keys', 'rotate', '--yes', '--wait', '0'), { renewed: 3, unreadable: [], resumed: true })
  assert.deepEqual(readKeys(path).current, next)
  const last = Buffer.alloc(32, 9)
  writeKeys(path, { current: last, next: null, former: next, deriving: first.deriving })
  assert.equal((await operator.data('keys', 'rotate', '--yes', '--wait', '0')).renewed, 3)
  assert.equal(vault.open((await secretsOf()).hook, hook), 'shared word')
  writeKeys(path, first)
  const { code, stdout } = await operator.run('doctor', '--depth', 'quick')
  assert.equal(code, 1)
  assert.match(stdout, /^FAILED +secrets +secrets\.key does not open 3 stored secrets: two_factor\.secret \d+/m)
})

test('a rotation knows every file that stores what it encrypts', () => {
  const source = join(import.meta.dirname, '..', '..')
  const files = globSync('**/*.ts', { cwd: source }).filter(
    (file) => !file.endsWith('.test.ts') && !/^(cli|platform)\//.test(file),
  )
  const sealing = files.filter((file) => /vault\.seal\(/.test(readFileSync(join(source, file), 'utf8')))
  const storing = sealing.filter((file) => /sealedColumns: SealedColumn/.test(readFileSync(join(source, file), 'utf8')))
  // These put what they encrypt into a form of the visitor's browser, for an hour at most.
  const carried = ['parts/account/two-factor/pages.ts', 'parts/authentication/drafts.ts']
  assert.deepEqual(sealing.filter((file) => !storing.includes(file)).sort(), carried)
  assert.equal(storing.length, 4)
})
