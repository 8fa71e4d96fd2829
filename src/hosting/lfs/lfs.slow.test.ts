import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { lfsRoot, pathOf } from '#platform/file-store/folder.ts'
import { errorsOf, expect, type Forge, injecting, openForge } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { ask, batch, filters, get, media, openPlaces, put, sha256, useLfs } from '#test/lfs.ts'
import { until } from '#test/machine.ts'
import { lfsTasks } from './jobs.ts'

const inject = injecting(openPlaces)
const filesOf = (forge: Forge) =>
  globSync('**/*', { cwd: lfsRoot(forge.belfry.settings.BELFRY_DATA), withFileTypes: true }).filter((each) => each.isFile())

test('the LFS client pushes and fetches large files, also from forks, and asks for locks once', async () => {
  await using engine = await openEngine({ worker: true })
  const { forge, ada, desk, work, id } = engine
  await useLfs(work)
  const large = randomBytes(6_000_000)
  await work.git('lfs', 'track', '*.bin')
  await work.commit('Add a large file', {
    'a large one.bin': large,
    'same.bin': large,
    'small.bin': 'small',
    'notes.txt': 'plain',
  })
  const pushed = await work.attempt('push', 'origin', 'HEAD')
  assert.equal(pushed.status, 0, pushed.stderr)
  assert.doesNotMatch(pushed.stderr, /locking/)
  assert.match(await work.git('show', 'HEAD:same.bin'), new RegExp(`oid sha256:${sha256(large)}\nsize 6000000`))
  const rows = await forge.belfry.db.rows(sql`select oid, size from lfs_objects where repo_id = ${id} order by size`)
  assert.deepEqual(rows, [
    { oid: sha256('small'), size: 5 },
    { oid: sha256(large), size: 6_000_000 },
  ])
  assert.equal(filesOf(forge).length, 2)

  const ben = await forge.person('ben')
  const { id: fork_id } = await expect(202, await ben.post('/repos/ada/engine/forks'))
  await until('the fork is there', () => forge.belfry.storage.has(fork_id))
  for (const [who, place] of [
    [null, 'ada/engine'],
    [ada, 'ada/engine'],
    [ben, 'ben/engine'],
  ] as const) {
    const clone = await desk.clone(who, place, ...filters.flatMap(([name, value]) => ['-c', `${name}=${value}`]))
    assert.ok(readFileSync(join(clone.folder, 'a large one.bin')).equals(large))
    assert.equal(await clone.git('status', '--porcelain'), '')
    await clone.git('lfs', 'fsck')
  }
  await work.commit('Again', { 'small.bin': 'another' })
  await work.push()
  assert.equal((await get(forge, ben.token, 'ben/engine', sha256('another'))).status, 404)
  assert.equal((await get(forge, ben.token, 'ada/engine', sha256('another'))).text, 'another')
})

test('contents that are wrong or incomplete are not stored', inject(async ({ forge, ada }) => {
  const wrong = await put(forge, ada.token, 'ada/open', 'other contents', sha256('contents'))
  assert.equal(wrong.status, 422)
  assert.match(JSON.parse(wrong.text).message, /SHA-256/)
  for (const oid of ['x', 'A'.repeat(64), '..%2f..%2fbelfry', `${'0'.repeat(63)}%00`]) {
    assert.equal((await put(forge, ada.token, 'ada/open', 'contents', oid)).status, 404, oid)
    assert.equal((await get(forge, ada.token, 'ada/open', oid)).status, 404, oid)
  }
  const packed = { 'content-encoding': 'gzip' }
  const path = `ada/open.git/info/lfs/objects/${sha256('contents')}`
  assert.equal((await ask(forge, ada.token, path, 'PUT', 'contents', packed)).status, 415)

  const whole = randomBytes(3_000_000)
  await new Promise<void>((resolve, reject) => {
    const { hostname, port } = new URL(forge.web)
    const headers = { authorization: `Bearer ${ada.token}`, 'content-length': whole.length }
    const sending = request({ hostname, port, path: `/ada/open.git/info/lfs/objects/${sha256(whole)}`, method: 'PUT', headers })
    sending.on('error', () => resolve())
    sending.on('response', () => reject(new Error('an answer came to half a request')))
    sending.write(whole.subarray(0, 2_000_000), () => {
      const begun = setInterval(() => {
        if (!filesOf(forge).some((file) => file.parentPath.endsWith('drafts'))) return
        clearInterval(begun)
        sending.destroy()
      }, 5)
    })
  })
  await until('the draft is gone', () => filesOf(forge).length === 0)
  assert.equal((await get(forge, ada.token, 'ada/open', sha256(whole))).status, 404)
  assert.deepEqual(await forge.belfry.db.rows(sql`select from lfs_objects`), [])
  assert.deepEqual(errorsOf(forge), [], 'a client that disconnects is no error of the server')

  assert.equal((await put(forge, ada.token, 'ada/open', '')).status, 200)
  assert.equal((await get(forge, ada.token, 'ada/open', sha256(''))).text, '')
}))

test('a range of an object can be requested', inject(async (forge) => {
  const oid = sha256('0123456789')
  await put(forge, forge.ada.token, 'ada/open', '0123456789')
  const cases: [range: string, status: number, text: string | undefined, told: string | null][] = [
    ['bytes=4-6', 206, '456', 'bytes 4-6/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=6-4', 200, '0123456789', null],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
  ]
  for (const [range, status, text, told] of cases) {
    const answer = await get(forge, null, 'ada/open', oid, { range })
    assert.deepEqual([answer.status, answer.headers.get('content-range')], [status, told], range)
    if (text !== undefined) assert.equal(answer.text, text, range)
  }
  assert.equal((await get(forge, null, 'ada/open', oid, { range: 'bytes=4-', 'if-range': `"${oid}"` })).status, 206)
  const whole = await get(forge, null, 'ada/open', oid, { range: 'bytes=4-', 'if-range': '"other"' })
  assert.deepEqual([whole.status, whole.text], [200, '0123456789'])
  assert.equal(whole.headers.get('content-disposition'), 'attachment')
}))

test('a malformed batch is refused, and one invalid object does not affect the others', inject(async (forge) => {
  const { token } = forge.ada
  const place = 'ada/open.git/info/lfs/objects/batch'
  const objects = [{ oid: sha256('x'), size: 1 }]
  const refused: [body: object | string, status: number][] = [
    ['', 400],
    ['{', 400],
    ['null', 400],
    ['"x"', 400],
    [{ objects }, 422],
    [{ operation: 'delete', objects }, 422],
    [{ operation: 'upload' }, 422],
    [{ operation: 'upload', objects: [null] }, 422],
    [{ operation: 'upload', objects: [{ oid: 1, size: 1 }] }, 422],
    [{ operation: 'upload', objects: [{ oid: 'x\0', size: 1 }] }, 422],
    [{ operation: 'upload', objects: [{ oid: 'x', size: '1' }] }, 422],
    [{ operation: 'upload', objects: [{ oid: 'x', size: -1 }] }, 422],
    [{ operation: 'upload', objects, transfers: ['tus'] }, 422],
    [{ operation: 'upload', objects, transfers: 'basic' }, 422],
    [{ operation: 'upload', objects, hash_algo: 'sha512' }, 409],
    [{ operation: 'upload', objects: Array(1001).fill(objects[0]) }, 413],
    ['x'.repeat(2_000_000), 413],
  ]
  for (const [body, status] of refused) {
    const answer = await ask(forge, token, place, 'POST', body)
    const told = `${JSON.stringify(body).slice(0, 60)}: ${answer.text}`
    assert.equal(answer.status, status, told)
    assert.equal(typeof JSON.parse(answer.text).message, 'string', told)
  }
  const mixed = [{ oid: 'short', size: 1 }, { oid: sha256('y'), size: 6 * 2 ** 30 }, ...objects]
  const answer = await batch(forge, token, 'ada/open', 'upload', mixed, {
    transfers: ['ssh', 'basic'],
    ref: { name: 'refs/heads/main' },
  })
  const told = JSON.parse(answer.text)
  assert.deepEqual([answer.headers.get('content-type'), told.transfer], [`${media}; charset=utf-8`, 'basic'])
  assert.deepEqual(
    told.objects.map((object: { error?: { code: number } }) => object.error?.code),
    [422, 422, undefined],
  )
  for (const [method, path] of [
    ['POST', 'locks/verify'],
    ['POST', 'locks'],
    ['GET', 'locks'],
  ] as const) {
    const locks = await ask(forge, token, `ada/open.git/info/lfs/${path}`, method, method === 'POST' ? {} : undefined)
    assert.equal(locks.status, 501)
  }
}))

test('contents without a repository are deleted, but not recent ones', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  for (const repo of ['first', 'second']) await ada.owns(repo, { auto_init: true })
  const root = lfsRoot(forge.belfry.settings.BELFRY_DATA)
  for (const contents of ['shared', 'first', 'new']) await put(forge, ada.token, 'ada/first', contents)
  await put(forge, ada.token, 'ada/second', 'shared')
  const drafts = ['old', 'new'].map((name) => join(root, 'drafts', name))
  for (const draft of drafts) writeFileSync(draft, '')
  const paths = ['shared', 'first', 'new'].map((contents) => pathOf(root, sha256(contents)))
  const [old, recent] = [8, 6].map((days) => new Date(forge.clock.now().getTime() - days * 86_400_000))
  for (const [index, path] of [...paths, ...drafts].entries())
    utimesSync(path, recent ?? 0, (index === 2 || index === 4 ? recent : old) ?? 0)
  const sweep = lfsTasks(forge.belfry.db, forge.belfry.files).sweep_lfs as () => Promise<void>

  await sweep()
  assert.deepEqual(
    [...paths, ...drafts].map((path) => existsSync(path)),
    [true, true, true, false, true],
  )
  assert.equal((await ada.delete('/repos/ada/first')).status, 204)
  await sweep()
  assert.deepEqual(
    paths.map((path) => existsSync(path)),
    [true, false, true],
  )
  assert.equal((await get(forge, ada.token, 'ada/second', sha256('shared'))).text, 'shared')
})
