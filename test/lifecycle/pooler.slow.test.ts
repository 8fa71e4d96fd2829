import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect, Person } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openPooler } from '#test/pooler.ts'
import { Host, newToken, openDatabase } from '#test/process.ts'

test('Belfry works behind a pooler that gives each connection a session', async () => {
  await using database = await openDatabase()
  await using pooler = await openPooler('session')
  await using host = await Host.open()
  const token = newToken()
  const seed = join(host.folder, 'seed.yaml')
  await writeFile(seed, 'users: [{ login: dana }]\nrepositories: [{ name: dana/rocket }]\n')
  const settings = { DATABASE_URL: pooler.url(database.url), BELFRY_ADMIN_TOKEN: token }
  const node = await host.start({ settings, options: ['--seed', seed] })
  const admin = new Person('admin', token, node)
  await expect(200, await admin.get('/repos/dana/rocket'))
  await admin.owns('engine')
  await expect(201, await admin.post('/repos/admin/engine/issues', { title: 'through the pooler' }))
  const [event] = await expect(200, await admin.get('/repos/admin/engine/events'))
  assert.equal(event.payload.issue.title, 'through the pooler')

  pooler.stall(true)
  const answers = (status: number) => async (path: string) =>
    until(`${path} answers ${status}`, async () => (await admin.get(path)).status === status)
  const paths = ['/user', '/repos/admin/engine/events', '/events']
  await Promise.all(paths.map(answers(503)))
  pooler.stall(false)
  await Promise.all(paths.map(answers(200)))
})

test('Belfry does not start behind a pooler that shares sessions', async () => {
  await using database = await openDatabase()
  await using pooler = await openPooler('transaction')
  await using host = await Host.open()
  const message = await host.refusal({ DATABASE_URL: pooler.url(database.url) })
  assert.match(
    message,
    /^The server in DATABASE_URL is a connection pooler that shares sessions\. Set its pooling mode to session/,
  )
})
