import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { password, username } from '#test/imports/git-server.ts'
import { begin, hold, openRuns, refsIn, refsOf, run } from '#test/imports/runs.ts'
import { commandsNow, processesIn, until } from '#test/machine.ts'

test('an import fails with a wrong password, resumes with the right one, and never shows it', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, source, root, leftovers } = runs
  await using _ = run(forge)
  const vcs_url = `${server.url}/closed/source.git`
  const engine = await begin(ada, 'engine', { vcs_url, vcs_username: username, vcs_password: 'a wrong one' })
  await engine.reaches('auth_failed')
  const { letGo, reached } = hold(runs)
  await expect(200, await ada.patch(engine.path, { vcs_username: username, vcs_password: password }))
  await reached()

  const encoded = [
    password,
    encodeURIComponent(password),
    Buffer.from(`${username}:${password}`).toString('base64'),
    'a wrong one',
  ]
  const places = {
    arguments: commandsNow(),
    files: readdirSync(root, { recursive: true }).map((name) => read(join(root, `${name}`))),
    logs: forge.logged,
    answers: [JSON.stringify(await engine.read())],
  }
  assert.ok(
    places.arguments.some((line) => line.includes('worker/main.ts')) && places.files.some((text) => text.includes('[core]')),
  )
  for (const [place, texts] of Object.entries(places)) {
    for (const secret of encoded) assert.ok(!texts.some((text) => text.includes(secret)), `${place} have ${secret}`)
  }

  letGo()
  await engine.reaches('complete')
  assert.equal(await refsOf(forge, engine.repo), await refsIn(source.path))
  await until('nothing is left', async () => (await leftovers()).length === 0)
  const row = await forge.belfry.db.first(sql`select credentials, heartbeat_at, active from imports`)
  assert.deepEqual({ ...row }, { credentials: null, heartbeat_at: forge.clock.now(), active: false })
})

function read(path: string) {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

test('an import whose workers are killed in every step gives the same result', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, source, startedSteps, onStepStarted } = runs
  const { letGo, reached } = hold(runs)
  const killed = new Set<string>()
  onStepStarted(async ({ step, group }) => {
    if (killed.has(step)) return
    killed.add(step)
    if (step === 'import') await reached()
    process.kill(-group, 'SIGKILL')
    letGo()
  })
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs_url: `${server.url}/open/source.git` })
  await engine.reaches('complete')
  assert.equal(await refsOf(forge, engine.repo), await refsIn(source.path))
  const steps = ['detect', 'import', 'map', 'push'].flatMap((step) => [step, step])
  assert.deepEqual(
    startedSteps.map(({ step }) => step),
    steps,
  )
})

test('a worker that keeps dying without progress is given up', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, startedSteps, onStepStarted, leftovers } = runs
  onStepStarted(({ step, group }) => step === 'import' && process.kill(-group, 'SIGKILL'))
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/source.git` })
  const { failed_step, message } = await engine.reaches('error')
  assert.equal(failed_step, 'importing')
  assert.match(message, /ended unexpectedly several times/)
  assert.equal(startedSteps.filter(({ step }) => step === 'import').length, 3)
  assert.equal((await ada.delete(engine.path)).status, 204)
  await until('nothing is left', async () => (await leftovers()).length === 0)
})

test('other nodes resume the imports of killed and stopped nodes', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, source, root, leftovers } = runs
  const { letGo, reached } = hold(runs)
  const { host, port, user, database } = forge.belfry.db.pool.options
  const node = fork(join(import.meta.dirname, '../../../../test/imports/runner-process.ts'))
  node.send({ connection: { host, port, user, database }, data: forge.belfry.settings.BELFRY_DATA })
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/source.git` })
  await reached()
  node.kill('SIGKILL')
  await once(node, 'exit')
  await until('its worker is gone', () => processesIn(root).length === 0)
  assert.equal((await engine.read()).status, 'importing')

  {
    await using _ = run(forge)
    await reached()
  }
  assert.deepEqual(processesIn(root), [])
  assert.equal((await engine.read()).status, 'importing')
  assert.equal((await leftovers()).length, 1)

  letGo()
  await using _ = run(forge)
  await engine.reaches('complete')
  assert.equal(await refsOf(forge, engine.repo), await refsIn(source.path))
})

test('brief work does not wait for long imports', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, startedSteps, leftovers } = runs
  hold(runs)
  await using _ = run(forge)
  const vcs_url = `${server.url}/open/source.git`
  const [first, second] = [await begin(ada, 'one', { vcs_url }), await begin(ada, 'two', { vcs_url })]
  const imported = () => startedSteps.filter(({ step }) => step === 'import').length
  await until('two are imported', () => imported() === 2)
  const third = await begin(ada, 'three', { vcs_url })
  await third.reaches('importing')
  assert.equal(imported(), 2)
  await ada.delete(first.path)
  await until('the third has its turn', () => imported() === 3)
  for (const { path } of [second, third]) await ada.delete(path)
  await until('nothing is left', async () => (await leftovers()).length === 0)
})

test('slow imports of one user leave a slot for others', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, startedSteps, leftovers } = runs
  hold(runs)
  const vcs_url = `${server.url}/open/source.git`
  const slow = []
  for (const name of ['one', 'two', 'three', 'four']) slow.push(await begin(ada, name, { vcs: 'git', vcs_url }))
  await using _ = run(forge)
  const imported = () => startedSteps.filter(({ step }) => step === 'import').length
  await until('two are imported', () => imported() === 2)
  const grace = await forge.person('grace')
  const other = await begin(grace, 'other', { vcs_url })
  await until('the other user has a turn', () => imported() === 3)
  assert.equal((await other.read()).status, 'importing')
  for (const { path } of slow) await ada.delete(path)
  await grace.delete(other.path)
  await until('nothing is left', async () => (await leftovers()).length === 0)
})

test('large files wait for a choice, and the fetched history is kept until then', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, startedSteps } = runs
  const large = await server.make('large')
  const contents = Buffer.alloc(104_857_601)
  await large.work.commit('Large', { 'large.bin': contents })
  await large.work.push('main')
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/large.git` })
  await until('it waits', async () => /opt_in/.test((await engine.read()).status_text))
  const { has_large_files, large_files_count, large_files_size } = await engine.read()
  assert.deepEqual([has_large_files, large_files_count, large_files_size], [true, 1, contents.length])
  await expect(200, await ada.patch(`${engine.path}/lfs`, { use_lfs: 'opt_in' }))
  await engine.reaches('complete')
  assert.deepEqual(
    startedSteps.map(({ step }) => step),
    ['detect', 'import', 'map', 'map', 'push'],
  )
  const oid = createHash('sha256').update(contents).digest('hex')
  const { content } = await ada.read('/repos/ada/engine/contents/large.bin')
  assert.match(
    Buffer.from(content, 'base64').toString(),
    new RegExp(`^version .*\noid sha256:${oid}\nsize ${contents.length}\n$`),
  )
  const objects = await forge.belfry.db.rows(sql`select oid, size from lfs_objects where repo_id = ${engine.repo.id}`)
  assert.deepEqual(objects, [{ oid, size: contents.length }])
})
