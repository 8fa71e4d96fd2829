import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Logger, runOnce } from 'graphile-worker'
import { git } from '#git/git.ts'
import { type Database, sql } from '#platform/database.ts'
import { join } from '#test/conversations.ts'
import { expect, type Forge, injecting, withPeople } from '#test/forge.ts'
import { repositoryTasks } from './jobs.ts'

const inject = injecting(withPeople('ada', 'ben', 'cy'))
const inside = (forge: Forge, id: number, ...args: string[]) => git(['-C', forge.belfry.storage.pathOf(id), ...args])
const refs = (forge: Forge, id: number) => inside(forge, id, 'for-each-ref', '--format=%(refname) %(objectname)')

/** Runs each waiting job once. */
async function runJobs({ belfry: { db, storage } }: Forge) {
  const tasks = repositoryTasks(db, storage)
  const taskList = Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [name, (payload: unknown) => task(payload as never)]),
  )
  await runOnce({ pgPool: db.pool, taskList, noHandleSignals: true, logger: new Logger(() => () => {}) })
}

test('contents are copied into a fork only if access allows it at that moment', inject(async ({ forge, ada, ben, cy }) => {
  const { id } = await ada.owns('engine', { auto_init: true })
  const hidden = await ada.owns('secret', { auto_init: true, private: true })
  const contents = await refs(forge, hidden.id)
  for (const who of [ben, cy]) await join(ada, who, 'pull', '/repos/ada/secret')
  const open = await expect(202, await ben.post('/repos/ada/engine/forks'))
  const revoked = await expect(202, await ben.post('/repos/ada/secret/forks'))
  const kept = await expect(202, await cy.post('/repos/ada/secret/forks'))
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  assert.equal((await ada.delete('/repos/ada/secret/collaborators/ben')).status, 204)
  await runJobs(forge)
  assert.equal(await refs(forge, open.id), '', 'what became private is not copied into a public fork')
  assert.equal(await inside(forge, open.id, 'count-objects'), '0 objects, 0 kilobytes\n')
  assert.equal(await refs(forge, revoked.id), '', 'nor for somebody who lost access')
  assert.equal(await refs(forge, kept.id), contents)
  assert.match(await refs(forge, id), /refs\/heads\/main/)
}))

test('when a fork’s parent is deleted, contents are not copied from a hidden ancestor', inject(async (forge) => {
  const { ada, ben, cy } = forge
  await ada.owns('engine', { auto_init: true })
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  const second = await expect(202, await cy.post('/repos/ben/engine/forks'))
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  assert.equal((await ben.delete('/repos/ben/engine')).status, 204)
  await runJobs(forge)
  assert.equal(await refs(forge, second.id), '')
  // The same when the ancestor itself was deleted while it was private.
  await ada.owns('motor', { auto_init: true })
  const third = await expect(202, await cy.post('/repos/ada/motor/forks'))
  await expect(200, await ada.patch('/repos/ada/motor', { private: true }))
  assert.equal((await ada.delete('/repos/ada/motor')).status, 204)
  await runJobs(forge)
  assert.equal(await refs(forge, third.id), '')
}))

test('a repository that becomes private during a fork gets no public fork', inject(async ({ ada, ben, cy, belfry }) => {
  const { id } = await ada.owns('engine', { auto_init: true })
  const { db } = belfry
  // Both forks passed the first check, and wait for the change to commit.
  const asked = await db.transaction(async (transaction) => {
    await transaction.query(sql`update repositories set private = true where id = ${id}`)
    await transaction.query(sql`insert into collaborators (repo_id, user_id, access, created_at)
      select ${id}, id, 1, ${db.now} from accounts where login = 'cy'`)
    const answers = [ben.post('/repos/ada/engine/forks'), cy.post('/repos/ada/engine/forks')]
    await waitForWaiting(db, 2)
    return answers
  })
  const [outsider, reader] = await Promise.all(asked)
  assert.equal(outsider?.status, 404)
  assert.equal(reader?.status, 202)
  assert.equal((await cy.read('/repos/cy/engine')).private, true)
  assert.equal((await ben.get('/repos/ben/engine')).status, 404)
}))

/** Waits until this many transactions wait for a lock. */
async function waitForWaiting(db: Database, many: number) {
  for (;;) {
    const row = await db.first<{ waiting: number }>(sql`
      select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    if (row && row.waiting >= many) return
  }
}
