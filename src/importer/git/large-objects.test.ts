import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { openObject, pathOf, storeContents } from '#platform/file-store/folder.ts'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { git } from './git.ts'

test('LFS objects that the source offers are downloaded', async () => {
  await using server = await startGitServer()
  const { work } = await server.make('large')
  const keep = (text: string, serve = true) => server.keep(Buffer.from(text.repeat(1000)), serve)
  const [first, second, spoiled] = [keep('first'), keep('second'), keep('spoiled')]
  const [absent, secret] = [keep('absent', false), keep('secret', false)]
  server.spoil(spoiled.oid, Buffer.from('something else'))
  await work.commit('One', { 'a.bin': first.pointer, 'b.bin': absent.pointer, 'c.txt': `${second.pointer}and more` })
  await work.commit('Two', { 'a.bin': second.pointer, 'b.bin': spoiled.pointer, 'd.bin': secret.pointer })
  await work.push('main')
  await using workspace = await openWorkspace()
  // The store has this object from another import; its id alone gives no access.
  await storeContents(
    workspace.lfs_store,
    (async function* () {
      yield Buffer.from('secret'.repeat(1000))
    })(),
  )
  const origin = originOf(`${server.url}/closed/large`, username, password)
  const { notes } = await git.convert(origin, workspace)
  assert.deepEqual(notes, { 'large files that the source does not give': 3 })
  const arranged = await git.arrange?.(origin, workspace)
  const both = [first, second].map(({ oid }) => oid).sort()
  assert.deepEqual(arranged?.lfs_objects?.map(({ oid }) => oid).sort(), both)
  for (const { oid, size } of arranged?.lfs_objects ?? []) {
    const contents = Buffer.concat(await ((await openObject(workspace.lfs_store, oid))?.toArray() ?? []))
    assert.deepEqual([createHash('sha256').update(contents).digest('hex'), contents.length], [oid, size])
  }
  await assert.rejects(readFile(pathOf(workspace.lfs_store, spoiled.oid)), { code: 'ENOENT' })
  // A resumed run does not download again.
  const before = server.asked.length
  await git.convert(origin, workspace)
  assert.deepEqual(
    server.asked.slice(before).filter(({ path }) => both.some((oid) => path.includes(oid))),
    [],
  )
})
