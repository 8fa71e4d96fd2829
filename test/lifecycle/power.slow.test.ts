import assert from 'node:assert/strict'
import fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Vault } from '#platform/vault.ts'
import { expect, openForge } from '#test/forge.ts'
import { Desk } from '#test/git.ts'
import { put } from '#test/lfs.ts'
import { type Syncs, watchSyncs } from '#test/syncs.ts'

const packed = (text: string) => Buffer.from(text).toString('base64')

/** Every file was flushed, by git or by us, and every folder that has a new entry was synced. */
function assertOnDisk(what: string, syncs: Syncs) {
  const { written, unsynced_folders, synced_files, git_flushed, git_only_begun } = syncs
  assert.ok(written.length > 0, `${what} writes files`)
  assert.deepEqual(unsynced_folders, [], `${what} syncs every folder that it changes`)
  assert.equal(git_only_begun, 0, `${what} leaves no file half written`)
  const flushed = git_flushed + synced_files
  assert.ok(flushed >= written.length, `${what} writes ${written.length} files and flushes ${flushed}: ${written.join()}`)
}

test('what is acknowledged is on disk: repositories, pushes, commits, merges, forks and large files', async () => {
  await using forge = await openForge({ worker: false })
  await using desk = await Desk.open(forge)
  const ada = await forge.person('ada')
  await using syncs = await watchSyncs()
  const { BELFRY_DATA: data } = forge.belfry.settings

  let id = 0
  const created = await syncs.during(data, async () => {
    id = (await ada.owns('engine', { auto_init: true })).id
  })
  assertOnDisk('a new repository', created)
  const path = forge.belfry.storage.pathOf(id)

  const work = await desk.clone(ada, 'ada/engine')
  await work.commit('One', { 'a/b/c.txt': 'one\n' })
  assertOnDisk('a push', await syncs.during(path, () => work.push('HEAD:main', 'HEAD:topic/deep/down')))
  await work.commit('Many', Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}.txt`, `${n}\n`])))
  const large = await syncs.during(path, () => work.push('HEAD:topic/deep/down'))
  assertOnDisk('a push of many files', large)
  assert.ok(large.git_flushed < 10, `which are one pack: ${large.git_flushed} flushes`)
  const removed = await syncs.during(path, () => work.push('HEAD:gone', ':topic/deep/down'))
  assertOnDisk('a push that deletes a branch', removed)

  const change = { message: 'Two', content: packed('two\n'), branch: 'gone' }
  const contents = await syncs.during(path, async () => expect(201, await ada.put('/repos/ada/engine/contents/d/e.txt', change)))
  assertOnDisk('a commit by the contents API', contents)

  const { number } = await expect(201, await ada.post('/repos/ada/engine/pulls', { title: 'Go', head: 'gone', base: 'main' }))
  const merged = await syncs.during(path, async () => expect(200, await ada.put(`/repos/ada/engine/pulls/${number}/merge`, {})))
  assertOnDisk('a merge', merged)

  const lfs = await syncs.during(data, () => put(forge, ada.token, 'ada/engine', 'large contents'))
  assertOnDisk('a large file', lfs)

  const other = id + 1000
  const copied = await syncs.during(data, () => forge.belfry.storage.copy(id, other, 'main', null))
  assert.deepEqual(copied.unsynced_folders, [], 'a fork syncs every folder')
  await forge.belfry.storage.pointHead(other, 'gone')
  assertOnDisk(
    'another default branch',
    await syncs.during(forge.belfry.storage.pathOf(other), () => forge.belfry.storage.pointHead(other, 'main')),
  )
})

test('the key that secrets are encrypted with is on disk before anything is', async ({ mock }) => {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-vault-'))
  const { fsyncSync } = fs
  const kinds: string[] = []
  mock.method(fs, 'fsyncSync', (fd: number) => {
    kinds.push(fs.fstatSync(fd).isDirectory() ? 'folder' : 'file')
    fsyncSync(fd)
  })
  syncBuiltinESMExports()
  try {
    const sealed = new Vault(folder).seal('a secret', 'of ada')
    assert.deepEqual(kinds, ['file', 'folder'])
    assert.equal(new Vault(folder).open(sealed, 'of ada'), 'a secret')
  } finally {
    mock.restoreAll()
    syncBuiltinESMExports()
    await rm(folder, { recursive: true })
  }
})
