import assert from 'node:assert/strict'
import { readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { maintenanceTasks } from './jobs.ts'

const forge = await openForge()
after(() => forge[Symbol.asyncDispose]())
const { db, storage, log } = forge.belfry
const ada = await forge.person('ada')
const tasks = maintenanceTasks(db, storage, log) as Record<string, (payload: object) => Promise<void>>
const check = () => tasks.check_repositories?.({})

const commit = async (repo: string, path: string): Promise<string> => {
  const change = { message: path, content: Buffer.from(`${path}\n`).toString('base64') }
  return (await expect(201, await ada.put(`/repos/ada/${repo}/contents/${path}`, change))).commit.sha
}
const recorded = async (id: number) =>
  (await db.first<{ sha: string }>(sql`select sha from refs where repo_id = ${id} and name = 'refs/heads/main'`))?.sha
const onDisk = async (id: number) => (await storage.refsOf(id, ['refs/heads/main'])).get('refs/heads/main')
const repairsOf = async (id: number) =>
  (await forge.admin.read('/admin/ref-repairs'))
    .filter(({ repository }: { repository: { id: number } }) => repository.id === id)
    .map(({ ref, recorded_sha, disk_sha, outcome }: Record<string, string>) => ({ ref, recorded_sha, disk_sha, outcome }))

test('a ref that is lost on disk is restored, and the repair is reported', async () => {
  const { id } = await ada.owns('restored', { auto_init: true })
  const first = await onDisk(id)
  const second = await commit('restored', 'a.txt')
  await check()
  assert.deepEqual(await repairsOf(id), [], 'where nothing differs, nothing is told')
  for (const lost of [`${first}\n`, '', '\0'.repeat(41)]) {
    await writeFile(join(storage.pathOf(id), 'refs/heads/main'), lost)
    await check()
    assert.deepEqual([await onDisk(id), await recorded(id)], [second, second])
  }
  const told = { ref: 'refs/heads/main', recorded_sha: second, outcome: 'restored' }
  assert.deepEqual(await repairsOf(id), [
    { ...told, disk_sha: null },
    { ...told, disk_sha: null },
    { ...told, disk_sha: first },
  ])
  assert.ok(forge.logged.some((line) => /disk and database differed/.test(line) && JSON.parse(line).level === 50))
  await commit('restored', 'b.txt')
})

test('if the recorded commit is lost, the database follows the disk, and a push restores it', async () => {
  const { id } = await ada.owns('lost', { auto_init: true })
  const first = await onDisk(id)
  const second = await commit('lost', 'a.txt')
  const path = storage.pathOf(id)
  // As after a power loss: the ref and the commit have names, and no bytes.
  await truncate(join(path, 'refs/heads/main'))
  const object = join(path, 'objects', second.slice(0, 2), second.slice(2))
  await rm(object)
  await writeFile(object, '')
  await check()
  assert.deepEqual(await repairsOf(id), [{ ref: 'refs/heads/main', recorded_sha: second, disk_sha: null, outcome: 'lost' }])
  assert.deepEqual([await onDisk(id), await recorded(id)], [undefined, undefined])
  assert.deepEqual(await readdir(join(path, 'objects', second.slice(0, 2))), [], 'its name is not in the way of its bytes')
  // Somebody brings it back.
  await git(['-C', path, 'update-ref', 'refs/heads/main', `${first}`])
  await check()
  assert.deepEqual([await recorded(id), (await repairsOf(id))[0].outcome], [first, 'adopted'])
})

test('a ref to a missing commit is removed', async () => {
  const { id } = await ada.owns('dangling', { auto_init: true })
  const first = await onDisk(id)
  await writeFile(join(storage.pathOf(id), 'refs/heads/main'), `${'1'.repeat(40)}\n`)
  // Also when the push that moved it there is not over.
  await db.query(sql`
    insert into pushes (repo_id, pusher_id, commands, started_at) select id, owner_id,
      jsonb_build_array(jsonb_build_object('ref', 'refs/heads/main', 'before', ${first}::text, 'after', ${'1'.repeat(40)}::text)), ${db.now}
    from repositories where id = ${id}`)
  await check()
  assert.deepEqual([await onDisk(id), await recorded(id)], [first, first])
  assert.equal((await repairsOf(id))[0].disk_sha, '1'.repeat(40))
})

test('a repository whose folder is missing accepts pushes again', async () => {
  const { id } = await ada.owns('emptied', { auto_init: true })
  await storage.erase(id)
  await check()
  assert.equal((await repairsOf(id))[0].outcome, 'lost')
  await commit('emptied', 'a.txt')
})

test('old folders without a row, drafts and locks are deleted, and nothing else', async () => {
  const { id } = await ada.owns('kept', { auto_init: true })
  await db.query(sql`select setval(pg_get_serial_sequence('repositories', 'id'), 90003)`)
  await storage.create(90_001, 'main')
  await storage.create(90_002, 'main')
  await storage.create(90_003, 'main')
  const draft = `${storage.pathOf(id)}.new`
  await git(['init', '--quiet', '--bare', '--template=', draft])
  const lock = join(storage.pathOf(id), 'refs/heads/main.lock')
  await writeFile(lock, '')
  // A fork may still wait for the contents of one that is deleted.
  await db.query(sql`select graphile_worker.add_job('erase_repository', '{"repo_id": 90003, "network_id": 90003}')`)
  const old = new Date(forge.clock.now().getTime() - 2 * 86_400_000)
  for (const path of [storage.pathOf(90_001), storage.pathOf(90_003), draft, lock, storage.pathOf(id)])
    await utimes(path, old, old)
  const sweep = async () => {
    const before = forge.logged.length
    await tasks.sweep_repositories?.({})
    return forge.logged.slice(before).map((line) => JSON.parse(line).removed?.length)
  }
  assert.deepEqual([await sweep(), await sweep()], [[3], []], 'what was removed is logged')
  assert.deepEqual(
    [90_001, 90_002, 90_003, id].map((each) => storage.has(each)),
    [false, true, true, true],
  )
  const left = await readdir(join(storage.pathOf(id), '..'))
  assert.ok(!left.includes(`${id}.git.new`))
  assert.deepEqual(await readdir(join(storage.pathOf(id), 'refs/heads')), ['main'])
})

test('site admins list failed jobs, and retry or discard them', async () => {
  const add = async () =>
    (
      await db.first<{ id: number }>(
        sql`select id::bigint from graphile_worker.add_job('erase_repository', '{}', max_attempts := 1)`,
      )
    )?.id
  const [first, second] = [await add(), await add()]
  await db.query(sql`
    update graphile_worker._private_jobs set attempts = 1, last_error = 'no such thing' where id = any(${[first, second]})`)
  const failed = async () => (await forge.admin.read('/admin/jobs/failed')).map(({ id }: { id: number }) => id)
  assert.deepEqual((await failed()).toSorted(), [first, second].toSorted())
  const [shown] = await forge.admin.read('/admin/jobs/failed?per_page=1')
  assert.partialDeepStrictEqual(shown, { task: 'erase_repository', attempts: 1, last_error: 'no such thing' })
  const metrics = await (await fetch(`${forge.web}/metrics`)).text()
  assert.match(metrics, /^belfry_jobs\{state="failed"\} 2$/m)
  assert.match(metrics, /^belfry_ref_repairs\{outcome="lost"\} \d+$/m)
  for (const path of ['/admin/jobs/failed', '/admin/ref-repairs']) assert.equal((await ada.get(path)).status, 404)
  assert.equal((await ada.post(`/admin/jobs/${first}/retry`)).status, 404)
  await expect(204, await forge.admin.post(`/admin/jobs/${first}/retry`))
  await expect(204, await forge.admin.delete(`/admin/jobs/${second}`))
  assert.deepEqual(await failed(), [])
  assert.equal((await forge.admin.post(`/admin/jobs/${first}/retry`)).status, 404, 'it has not failed any more')
  const waiting = await db.rows(sql`select id from graphile_worker.jobs where id = any(${[first, second]}) and attempts = 0`)
  assert.equal(waiting.length, 1)
  assert.equal((await forge.admin.post('/admin/jobs/999999999999/retry')).status, 404)
})
