import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Person } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { copyBelfry } from '#test/packed.ts'
import { type BelfryProcess, Host, newToken, openDatabase } from '#test/process.ts'
import { openReceiver } from '#test/webhooks.ts'

const root = join(import.meta.dirname, '..', '..')

/** What a later version may do to tables that an older one uses. */
const laterMigration = `
  alter table issues add column later integer not null default 1;
  alter table repositories add column later text;
  alter table hooks add column later boolean not null default false;
  create table later (id bigint primary key);
`

/** A copy of this program with one migration more. */
async function makeLaterVersion(host: Host) {
  const folder = join(host.folder, 'later')
  const program = await copyBelfry(folder)
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'migrations', '9999_later.sql'), laterMigration)
  return program
}

test('during a rolling upgrade, nodes of both versions serve requests, git and jobs', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  await using receiver = await openReceiver()
  const token = newToken()
  const settings = { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: token, BELFRY_WEBHOOK_ADDRESSES: '127.0.0.1' }
  const earlier = await host.start({ settings })
  const adminOf = (node: BelfryProcess) => new Person('admin', token, node)
  await adminOf(earlier).owns('engine', { auto_init: true })
  const hook = { config: { url: receiver.url, content_type: 'json' }, events: ['issues'] }
  assert.equal((await adminOf(earlier).post('/repos/admin/engine/hooks', hook)).status, 201)
  /** Acts on one node and reads on another, so that each has prepared its statements before the tables change, and after. */
  const actOn = async (writer: BelfryProcess, reader: BelfryProcess, title: string) => {
    const made = await adminOf(writer).post('/repos/admin/engine/issues', { title })
    assert.equal(made.status, 201, await made.text())
    const paths = [
      '/repos/admin/engine/issues',
      '/repos/admin/engine/events',
      '/user/repos',
      '/repos/admin/engine/hooks',
      '/notifications?all=true',
    ]
    for (const path of paths) {
      const answer = await adminOf(reader).get(path)
      assert.equal(answer.status, 200, `${path}: ${await answer.text()}`)
    }
    for (const path of ['/', '/admin/engine', '/admin/engine/issues', '/admin.atom'])
      assert.equal((await reader.get(path)).status, 200, path)
    await until(`${title} is delivered`, () => receiver.received.some(({ json }) => json.issue?.title === title))
  }
  for (let count = 0; count < 6; count++) await actOn(earlier, earlier, `before ${count}`)

  const later = await host.start({ settings, program: await makeLaterVersion(host) })
  assert.equal((await database.query('select from later')).length, 0, 'the later version has migrated')
  for (let count = 0; count < 6; count++) {
    await actOn(earlier, later, `earlier ${count}`)
    await actOn(later, earlier, `later ${count}`)
  }
  assert.equal(await earlier.stop(), '0')
  await actOn(later, later, 'after')
  assert.equal(await later.stop(), '0')
})

/** Older nodes run while a migration is applied, and go on. What they do not know of must not be in their way. */
const notAdditive =
  /\b(?:drop\s+(?:table|column)|rename\s+(?:to|column)|alter\s+column\s+\w+\s+(?:type|set\s+not\s+null)|add\s+column\s+(?:if\s+not\s+exists\s+)?[^;,]*?not\s+null(?![^;,]*default)(?![^;,]*generated))/i

test('migrations only add, from the first that a rolling upgrade may apply', () => {
  const faults = globSync('migrations/*.sql', { cwd: root })
    .filter((path) => path >= 'migrations/0054')
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8').replace(/--.*/g, '')
      const [fault] = notAdditive.exec(text) ?? []
      return fault ? `${path}: ${fault}` : []
    })
  assert.deepEqual(faults, [])
  assert.match('alter table issues add column later integer not null', notAdditive)
  assert.doesNotMatch(laterMigration, notAdditive)
})
