import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { sql } from '#platform/database.ts'
import { errorsOf, expect, type Forge, injecting } from '#test/forge.ts'
import { installHook, openEngine, openPushes, pkt } from '#test/git.ts'
import { runJobs } from '#test/jobs.ts'
import { processesIn, until } from '#test/machine.ts'

const inject = injecting(openEngine)
const message = /The repository was deleted in the meantime\./

/** Runs the job that removes the folders of deleted repositories. */
async function erase({ belfry }: Forge, id: number) {
  const { erase_repository } = repositoryTasks(belfry.db, belfry.storage)
  if (erase_repository) await runJobs({ belfry }, { erase_repository })
  assert.ok(!belfry.storage.has(id))
}

/** Statements that wait for a lock. */
async function waiting({ belfry: { db } }: Forge, statement: string) {
  const found = await db.query(sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like ${statement}`)
  return (found.rowCount ?? 0) > 0
}

test('a push that begins while its repository is being deleted is refused', inject(async ({ forge, ada, work }) => {
  await work.commit('Begin')
  // The deletion has locked the repository, and waits here before it commits.
  const gate = await forge.belfry.db.connect()
  await gate.query('begin')
  await gate.query('lock table deleted_repositories')
  const deleting = ada.delete('/repos/ada/engine')
  await until('the deletion waits', () => waiting(forge, 'insert into deleted_repositories%'))
  const pushing = work.attempt('push', 'origin', 'main')
  await until('the push waits', () => waiting(forge, '%insert into pushes%'))
  await gate.query('commit')
  gate.release()
  await expect(204, await deleting)
  const { status, stderr } = await pushing
  assert.notEqual(status, 0)
  assert.match(stderr, message)
  assert.equal(await openPushes(forge), 0)
  assert.deepEqual(errorsOf(forge), [])
}))

for (const [hook, erased] of [
  ['pre-receive', true],
  ['post-receive', true],
  ['post-receive', false],
] as const) {
  const rest = erased ? 'removed' : 'still there'
  test(`a push whose repository is deleted during its ${hook} hook fails, with the folder ${rest}`, inject(async (scene) => {
    const { forge, ada, work, desk, id } = scene
    const [reached, go] = [join(desk.folder, 'reached'), join(desk.folder, 'go')]
    const script = `touch "${reached}"; until [ -e "${go}" ]; do sleep 0.02; done; echo from the hook`
    await installHook(forge.belfry.storage.pathOf(id), hook, script)
    await work.commit('Begin')
    const pushing = work.attempt('push', 'origin', 'main')
    await until('the hook is reached', () => existsSync(reached))
    await expect(204, await ada.delete('/repos/ada/engine'))
    if (erased) await erase(forge, id)
    await writeFile(go, '')
    const { status, stderr } = await pushing
    assert.notEqual(status, 0)
    assert.match(stderr, message)
    assert.equal(await openPushes(forge), 0)
    assert.equal(forge.belfry.storage.has(id), !erased)
    assert.deepEqual(errorsOf(forge), [])
  }))
}

test('a clone whose repository is deleted before its pack is made fails with a message', inject(async ({
  forge,
  ada,
  work,
  id,
}) => {
  const head = await work.commit('Begin')
  await work.push()
  const fetching = [
    beginFetch(forge, 'version=0', `${pkt(`want ${head} side-band-64k ofs-delta\n`)}0000${pkt('done\n')}`),
    beginFetch(forge, 'version=2', `${pkt('command=fetch')}0001${pkt(`want ${head}\n`)}${pkt('done\n')}0000`),
  ]
  await until('git waits for what is wanted', () => processesIn(forge.belfry.storage.pathOf(id)).length >= 2)
  await expect(204, await ada.delete('/repos/ada/engine'))
  await erase(forge, id)
  for (const { send } of fetching)
    assert.equal(await text(await send()), pkt('ERR The repository was deleted in the meantime.\n'))
  assert.deepEqual(errorsOf(forge), [])
}))

test('a clone whose repository is deleted while its pack is sent fails with a message', inject(async ({
  forge,
  ada,
  work,
  id,
}) => {
  // Few enough for git to keep them in a file each, which it opens when it sends them. More than the buffers of a connection, which can grow to
  // 4 and 32 MB.
  const files = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`${index}.bin`, randomBytes(3 << 20)]))
  const head = await work.commit('Begin', files)
  await work.push()
  const { send } = beginFetch(forge, 'version=0', `${pkt(`want ${head} side-band-64k ofs-delta\n`)}0000${pkt('done\n')}`)
  const response = await send()
  await once(response, 'readable')
  await expect(204, await ada.delete('/repos/ada/engine'))
  await erase(forge, id)
  const sent = await buffer(response)
  assert.equal(response.statusCode, 200)
  assert.ok(sent.toString('latin1').endsWith(pkt('\x03The repository was deleted in the meantime.\n')))
  assert.deepEqual(errorsOf(forge), [])
}))

/** Begins a fetch, and sends what is wanted later. */
function beginFetch({ web }: Forge, protocol: string, wants: string) {
  const fetching = request(`${web}/ada/engine.git/git-upload-pack`, { method: 'POST', headers: { 'git-protocol': protocol } })
  fetching.flushHeaders()
  return {
    async send(): Promise<IncomingMessage> {
      fetching.end(wants)
      const [response] = await once(fetching, 'response')
      return response
    },
  }
}
