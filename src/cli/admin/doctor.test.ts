import assert from 'node:assert/strict'
import { chmod, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { expect, injecting, openForge } from '#test/forge.ts'
import { operatorOf } from '#test/operator.ts'

const inject = injecting(openForge)

interface Found {
  name: string
  state: string
  message: string
  advice?: string
}
const findings = (stdout: string): Found[] => JSON.parse(stdout).checks.filter(({ state }: Found) => state !== 'ok')

test('doctor finds a healthy server healthy', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'One' }))
  await expect(201, await ada.post('/repos/ada/engine/issues/1/comments', { body: 'Two' }))
  await expect(204, await ada.put('/user/starred/ada/engine'))
  for (const depth of ['quick', 'connected', 'contents']) {
    const { code, stdout } = await operator.run('doctor', '--depth', depth, '--json')
    assert.deepEqual([code, findings(stdout).filter(({ name }) => name !== 'disk')], [0, []], stdout)
  }
  assert.match(await operator.text('doctor'), /^ok +objects +Checked 1 repositories\.$/m)
}))

test('doctor finds wrong counters, and corrects them with --fix', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { auto_init: true })
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'One' }))
  await forge.belfry.db.query(sql`update repositories set stargazers_count = 7, open_issues_count = 0 where id = ${id}`)
  await forge.belfry.db.query(sql`update issues set comments_count = 3 where repo_id = ${id}`)
  const { code, stdout } = await operator.run('doctor', '--json')
  assert.equal(code, 1)
  const [counters] = findings(stdout)
  assert.equal(counters?.name, 'counters')
  assert.match(
    `${counters?.message}`,
    new RegExp(`repositories.stargazers_count is wrong in 1 rows \\(id ${id}: 7, counted 0\\)`),
  )
  const fixed = await operator.run('doctor', '--fix')
  assert.equal(fixed.code, 0)
  assert.match(fixed.stderr, /^Correcting counters: .*issues\.comments_count/)
  assert.match(fixed.stdout, /counters +Corrected 3 rows\./)
  const repo = await ada.read('/repos/ada/engine')
  assert.deepEqual([repo.stargazers_count, repo.open_issues_count], [0, 1])
  assert.partialDeepStrictEqual(await operator.data('audit', '--action', 'site'), [{ action: 'site.doctor_fix' }])
}))

test('doctor finds damaged repositories, moved refs and folders without a repository', inject(async (forge) => {
  const operator = operatorOf(forge)
  const { db, storage } = forge.belfry
  const ada = await forge.person('ada')
  const damaged = await ada.owns('damaged', { auto_init: true })
  const moved = await ada.owns('moved', { auto_init: true })
  const empty = await ada.owns('empty')
  const tree = (await git(['-C', storage.pathOf(damaged.id), 'rev-parse', 'main^{tree}'])).trim()
  await rm(join(storage.pathOf(damaged.id), 'objects', tree.slice(0, 2), tree.slice(2)))
  await git(['-C', storage.pathOf(moved.id), 'update-ref', '-d', 'refs/heads/main'])
  await storage.erase(empty.id)
  await db.query(sql`select setval(pg_get_serial_sequence('repositories', 'id'), ${empty.id + 5})`)
  await storage.create(empty.id + 5, 'main')
  const old = new Date(forge.clock.now().getTime() - 2 * 86_400_000)
  await utimes(storage.pathOf(empty.id + 5), old, old)
  const { stdout } = await operator.run('doctor', '--json')
  const found = findings(stdout).filter(({ name }) => name !== 'disk')
  assert.deepEqual(
    found.map(({ name, state }) => `${name} ${state}`),
    ['folders failed', 'refs failed', 'objects failed', 'orphans warning'],
  )
  assert.match(`${found[0]?.message}`, /1 repositories have no folder: ada\/empty\./)
  assert.match(`${found[1]?.message}`, /ada\/moved \(refs\/heads\/main\)/)
  assert.match(`${found[2]?.message}`, /1 repositories .*: ada\/damaged \(/)
  const fixed = await operator.run('doctor', '--fix', '--json')
  assert.match(fixed.stderr, /Removing folders that belong to no repository: /)
  assert.deepEqual(
    findings(fixed.stdout).flatMap(({ name }) => (name === 'disk' ? [] : [name])),
    ['objects'],
    'lost objects cannot be made again',
  )
  assert.deepEqual([storage.has(empty.id), storage.has(empty.id + 5)], [true, false])
  assert.equal((await storage.refsOf(moved.id)).has('refs/heads/main'), true)
}))

test('doctor reports failed jobs, failing hooks, open keys and a database of another version', inject(async (forge) => {
  const operator = operatorOf(forge)
  const { db, settings } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const hook = { config: { url: 'https://hooks.example.com/secret-path' }, events: ['push'] }
  const { id } = await expect(201, await ada.post('/repos/ada/engine/hooks', hook))
  await db.query(sql`update hooks set last_code = 502, last_status = 'failed to connect to host' where id = ${id}`)
  await db.query(sql`select graphile_worker.add_job('erase_repository', '{}', max_attempts := 1)`)
  await db.query(sql`update graphile_worker._private_jobs set attempts = 1`)
  const key = join(settings.BELFRY_DATA, 'secrets.key')
  await chmod(key, 0o644)
  const { code, stdout } = await operator.run('doctor')
  await chmod(key, 0o600)
  assert.equal(code, 1)
  assert.match(stdout, /^FAILED +secrets +Other accounts can read secrets\.key/m)
  assert.match(stdout, /^warning +jobs +.*1 failed\. Lately: erase_repository/m)
  assert.match(stdout, new RegExp(`hooks failed: ${id} of ada/engine to hooks\\.example\\.com \\(failed to connect`))
  await db.query(sql`insert into migrations (name) values ('9999_later.sql')`)
  const later = await operator.run('doctor')
  await db.query(sql`delete from migrations where name = '9999_later.sql'`)
  assert.equal(later.code, 1)
  assert.match(later.stdout, /^FAILED +start +The database is newer than this Belfry/)
}))
