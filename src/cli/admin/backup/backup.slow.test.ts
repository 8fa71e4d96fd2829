import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { lfsRoot, storeContents } from '#platform/file-store/folder.ts'
import { expect, openForge } from '#test/forge.ts'
import { openOperator, operatorOf } from '#test/operator.ts'
import { openDatabase } from '#test/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'belfry-backup-'))
const forge = await openForge()
after(async () => {
  await forge[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const operator = operatorOf(forge)
const { db, storage, settings } = forge.belfry
const ada = await forge.person('ada')
const file = join(folder, 'whole.tar')
const elsewhere = (data: string) => openOperator({ BELFRY_DATA: join(folder, data) }, forge.clock)

const engine = await ada.owns('engine', { auto_init: true })
await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Tab\tand \\ and ünïcode', body: 'null: \\N' }))
const commit = (path: string) => ({ message: path, content: Buffer.from(`${path}\n`).toString('base64') })
const main = async () => (await ada.read('/repos/ada/engine/git/ref/heads/main')).object.sha
await expect(201, await ada.post('/repos/ada/engine/git/refs', { ref: 'refs/heads/topic', sha: await main() }))
await expect(201, await ada.put('/repos/ada/engine/contents/a.txt', { ...commit('a.txt'), branch: 'topic' }))
await expect(201, await ada.post('/repos/ada/engine/pulls', { title: 'Take it', head: 'topic', base: 'main' }))
const { oid } = await storeContents(
  lfsRoot(settings.BELFRY_DATA),
  (async function* () {
    yield Buffer.from('large')
  })(),
)
await db.query(sql`insert into lfs_objects (repo_id, oid, size, created_at) values (${engine.id}, ${oid}, 5, ${db.now})`)
await expect(201, await ada.post('/repos/ada/engine/hooks', { config: { url: 'https://receiver.example/hook' } }))
await ada.owns('attic')
await expect(201, await ada.put('/repos/ada/attic/import', { vcs: 'git', vcs_url: 'https://source.example/attic.git' }))
const before = await main()
const made = await operator.data('backup', file)
await expect(201, await ada.put('/repos/ada/engine/contents/later.txt', commit('later.txt')))

test('a backup is restored with DATABASE_URL, with the refs of the database at that moment', async () => {
  assert.partialDeepStrictEqual(made, { repositories: 2, files: 1, without_folder: [] })
  await using target = await openDatabase({ empty: true })
  const data = join(folder, 'shared')
  const restored = openOperator({ BELFRY_DATA: data, DATABASE_URL: target.url }, forge.clock)
  const { checks } = await restored.data('restore', file)
  assert.deepEqual(
    checks.flatMap(({ name, state }: { name: string; state: string }) => (state === 'failed' ? [name] : [])),
    [],
  )
  const path = storage.pathOf(engine.id).replace(settings.BELFRY_DATA, data)
  const refs = await git(['-C', path, 'for-each-ref', '--format=%(refname) %(objectname)'])
  assert.match(refs, new RegExp(`^refs/heads/main ${before}\nrefs/heads/topic \\w+\nrefs/pull/2/head \\w+\n$`))
  assert.equal(readFileSync(join(data, 'lfs', oid.slice(0, 2), oid.slice(2, 4), oid), 'utf8'), 'large')
  assert.deepEqual(readFileSync(join(data, 'secrets.key')), readFileSync(join(settings.BELFRY_DATA, 'secrets.key')))
  assert.deepEqual(await target.query('select title, body from issues where number = 1'), [
    { title: 'Tab\tand \\ and ünïcode', body: 'null: \\N' },
  ])
  const [counted] = await target.query("select open_issues_count from repositories where name = 'engine'")
  assert.equal(counted.open_issues_count, 2, 'triggers did not count again')
  const references = "select count(*)::int from pg_constraint where contype = 'f'"
  assert.deepEqual(
    await target.query(references),
    await db.rows(sql`select count(*)::int from pg_constraint where contype = 'f'`),
  )
  assert.deepEqual(await target.query("select tgname from pg_trigger where tgenabled <> 'O'"), [])
  const again = openOperator({ BELFRY_DATA: join(folder, 'another'), DATABASE_URL: target.url }, forge.clock)
  assert.match((await again.run('restore', file)).stderr, /^The database in DATABASE_URL has tables\./)
})

test('a restored copy sends nothing and imports nothing, until the operator says so', async () => {
  await using copy = await openDatabase({ empty: true })
  const restored = openOperator({ BELFRY_DATA: join(folder, 'copy'), DATABASE_URL: copy.url }, forge.clock)
  const text = await restored.text('restore', file)
  assert.match(text, /^It sends nothing: 1 webhooks are paused, 1 waiting deliveries dropped, 1 imports ended\.$/m)
  const states = 'select active, paused_reason from hooks'
  assert.deepEqual(await copy.query(states), [{ active: false, paused_reason: 'restored' }])
  assert.deepEqual(await copy.query('select id from pending_deliveries'), [])
  assert.deepEqual(await copy.query('select status, active from imports'), [{ status: 'error', active: false }])
  assert.deepEqual(await restored.data('hooks', 'resume-restored'), { active: 1 })
  assert.deepEqual(await copy.query(states), [{ active: true, paused_reason: null }])
  // A copy that was made with other tools.
  assert.partialDeepStrictEqual(await restored.data('silence', '--yes'), { paused_hooks: 1, dropped_deliveries: 0 })
  assert.deepEqual(await copy.query(states), [{ active: false, paused_reason: 'restored' }])
})

test('restore --live continues deliveries and imports', async () => {
  await using successor = await openDatabase({ empty: true })
  const restored = openOperator({ BELFRY_DATA: join(folder, 'live'), DATABASE_URL: successor.url }, forge.clock)
  assert.equal((await restored.data('restore', file, '--live')).silenced, null)
  assert.deepEqual(await successor.query('select active from hooks'), [{ active: true }])
  assert.deepEqual(await successor.query('select event from pending_deliveries'), [{ event: 'ping' }])
  assert.deepEqual(await successor.query('select status, active from imports'), [{ status: 'importing', active: true }])
})

test('a backup that is damaged or cut off is refused before anything is written', async () => {
  const whole = readFileSync(file)
  const cases: [string, Buffer | Uint8Array, RegExp][] = [
    ['changed', whole.with(whole.indexOf('secrets.key') + 512, 0), /was changed or is damaged\. Use another backup\.$/],
    ['cut', whole.subarray(0, whole.length / 2), /is damaged or no backup of Belfry: the archive ends early\./],
    ['text', Buffer.alloc(2000, 'no archive'), /is damaged or no backup of Belfry/],
    ['empty', Buffer.alloc(1024), /is no complete backup/],
  ]
  for (const [name, bytes, message] of cases) {
    writeFileSync(join(folder, name), bytes)
    assert.match((await elsewhere('unused').run('restore', join(folder, name))).stderr, message)
  }
  assert.match((await elsewhere('unused').run('restore', join(folder, 'none'))).stderr, /^There is no file/)
  assert.equal(existsSync(join(folder, 'unused')), false)
})

test('nothing that is there is overwritten', async () => {
  assert.match((await operator.run('backup', file)).stderr, /whole\.tar is there already\. Give another name\.$/)
  assert.match((await operator.run('restore', file)).stderr, /is not empty \(it has .*A backup is restored into an empty folder/)
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
  assert.match((await operator.run('backup', join(folder, 'missing', 'a.tar'))).stderr, /^Cannot write /)
  assert.equal(createHash('sha256').update(readFileSync(file)).digest('hex'), digest)
  const { stderr } = await operator.run('restore', folder)
  assert.match(stderr, /is not empty/)
  assert.match((await elsewhere('unused').run('restore', folder)).stderr, /^Cannot read .*EISDIR/)
  const broken = join(folder, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'restore-unfinished'), '')
  const { checkRestored } = await import('#platform/data-folder.ts')
  assert.throws(() => checkRestored(broken), /A restore into .* did not finish\. Empty the folder/)
})
