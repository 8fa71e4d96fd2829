import { deepEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeHgRepository } from '#test/imports/hg.ts'
import { openHgBundle } from '#test/imports/hg-bundle.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { mercurial } from './mercurial.ts'

/** Manifests so large that few are cached, and so many that a whole text is stored. */
const [changesets, files, folder] = [1300, 900, 'a-folder-with-a-name/'.repeat(6)]

test('no large text is released while it is still needed', async () => {
  const bundle = openHgBundle()
  const path = (file: number) => `${folder}${file}.txt`
  bundle.commit({ set: Object.fromEntries(Array.from({ length: files }, (_, file) => [path(file), 'first\n'])) })
  for (let number = 1; number < changesets; number++)
    bundle.commit({ parents: [number - 1], set: { [path((number * 7) % files)]: `${number}\n` } })
  const place = await mkdtemp(join(tmpdir(), 'belfry-hg-'))
  await using undo = new AsyncDisposableStack()
  undo.defer(() => rm(place, { recursive: true }))
  const server = undo.use(await startHgServer(await makeHgRepository(place, bundle.bytes())))
  await using workspace = await openWorkspace()
  await mercurial.convert(originOf(server.url), workspace)
  const { revisions, mismatches } = await mercurial.verify(originOf(server.url), workspace, true)
  deepEqual([revisions, mismatches], [changesets, []])
})
