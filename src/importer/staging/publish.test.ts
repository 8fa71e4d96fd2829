import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { type Bare, openBare } from '#test/bare.ts'
import { publish } from './publish.ts'
import { prepareRefs } from './rewrite/prepare-refs.ts'

const { signal } = new AbortController()
const ada = { original_name: 'ada', original_email: 'ada@example.com', name: 'Ada L', email: 'ada@lovelace.example' }

/** A stage with one pack, as after a fetch, and an empty target. */
async function openStage(bare: Bare) {
  const { work, folder, path } = bare
  await work.commit('One', { 'a.txt': 'a', 'b.bin': randomBytes(20_000) })
  await work.git('tag', '-a', 'v1', '-m', 'First')
  await work.commit('Two')
  const stage = join(folder, 'stage.git')
  await git(['init', '--quiet', '--bare', '--template=', stage])
  await work.git('push', '--quiet', stage, 'main:refs/import/orig/heads/main', 'v1:refs/import/orig/tags/v1')
  await git(['-C', stage, 'repack', '-a', '-d', '-q'])
  const percents: number[] = []
  return {
    stage,
    percents,
    prepare: (authors: (typeof ada)[] = []) => prepareRefs(stage, { signal, authors }),
    publish: (recompress = false, walked = true) =>
      publish(stage, path, { signal, recompress, walked, onProgress: (percent) => percents.push(percent) }),
    refs: async (repository: string) => {
      const listed = await git(['-C', repository, 'for-each-ref', '--format=%(refname) %(objectname)'])
      return Object.fromEntries(
        listed
          .trim()
          .split('\n')
          .map((line) => line.split(' ', 2)),
      ) as Record<string, string>
    },
    packs: async (repository: string) => (await readdir(join(repository, 'objects', 'pack'))).sort(),
  }
}

test('packs of an unchanged history are linked, and only the original refs are set', async () => {
  await using bare = await openBare()
  const { stage, percents, ...made } = await openStage(bare)
  await made.prepare()
  const [pack = ''] = (await made.packs(stage)).filter((name) => name.endsWith('.pack'))
  const { refs } = await made.publish()
  assert.deepEqual(refs, { 'refs/heads/main': await bare.work.head(), 'refs/tags/v1': await bare.work.git('rev-parse', 'v1') })
  const [from, to] = await Promise.all([stage, bare.path].map((path) => stat(join(path, 'objects', 'pack', pack))))
  assert.equal(from?.ino, to?.ino)
  const kept = { 'refs/import/orig/heads/main': refs['refs/heads/main'], 'refs/import/orig/tags/v1': refs['refs/tags/v1'] }
  assert.deepEqual(await made.refs(bare.path), kept)
  assert.deepEqual(percents, [100])
  await bare.bare('fsck', '--strict')
  // The leftovers of a kill: stale locks, and a pack without its index.
  await writeFile(join(bare.path, 'packed-refs.lock'), '')
  await mkdir(join(bare.path, 'refs', 'import', 'orig', 'heads'), { recursive: true })
  await writeFile(join(bare.path, 'refs', 'import', 'orig', 'heads', 'main.lock'), '')
  await rm(join(bare.path, 'objects', 'pack', pack.replace('.pack', '.idx')))
  assert.deepEqual(await made.publish(), { refs })
  assert.deepEqual(await made.refs(bare.path), kept)
  await bare.bare('pack-refs', '--all')
  await rm(stage, { recursive: true })
  await bare.bare('fsck', '--strict')
})

test('a rewritten history is packed with its original refs, and without unreachable objects', async () => {
  await using bare = await openBare()
  const { stage, percents, ...made } = await openStage(bare)
  const waste = (await git(['-C', stage, 'hash-object', '-w', '--stdin'], { input: 'waste' })).trim()
  await git(['-C', stage, 'repack', '-a', '-d', '-q', '--keep-unreachable'])
  await writeFile(join(stage, 'objects', 'pack', 'tmp_pack_left'), 'half a pack')
  await made.prepare([ada])
  const { refs } = await made.publish()
  assert.notEqual(refs['refs/heads/main'], await bare.work.head())
  assert.equal((await made.refs(bare.path))['refs/import/orig/heads/main'], await bare.work.head())
  assert.equal(await bare.bare('log', '-1', '--format=%an %ae', refs['refs/heads/main'] ?? ''), 'Ada L ada@lovelace.example')
  assert.equal(await bare.bare('rev-parse', `${refs['refs/heads/main']}^{tree}`), await bare.work.git('rev-parse', 'main^{tree}'))
  assert.deepEqual(
    percents,
    percents.toSorted((one, other) => one - other),
  )
  assert.ok(percents.length > 3 && percents.at(-1) === 100, percents.join())
  assert.ok((await made.packs(bare.path)).every((name) => /^pack-\w+\.(pack|idx|rev)$/.test(name)))
  assert.ok(!(await made.packs(stage)).includes('tmp_pack_left'))
  await assert.rejects(bare.bare('cat-file', '-e', waste))
  await bare.bare('fsck', '--strict')
  // Another choice before the end: the former original refs are replaced.
  await git(['-C', stage, 'update-ref', '-d', 'refs/import/orig/tags/v1'])
  await git(['-C', stage, 'update-ref', 'refs/import/orig/tags/v1/deep', await bare.work.head()])
  await made.prepare()
  const again = await made.publish(true)
  assert.deepEqual(Object.keys(again.refs), ['refs/heads/main', 'refs/tags/v1/deep'])
  assert.deepEqual(Object.keys(await made.refs(bare.path)), ['refs/import/orig/heads/main', 'refs/import/orig/tags/v1/deep'])
})

test('nothing is published if an object is missing, or if the stage is empty', async () => {
  await using bare = await openBare()
  const { stage, ...made } = await openStage(bare)
  assert.deepEqual(await made.publish(), { refs: {} })
  await made.prepare([ada])
  // One blob is missing.
  const folder = join(stage, 'objects', 'pack')
  for (const name of (await made.packs(stage)).filter((name) => name.endsWith('.pack'))) {
    const input = await readFile(join(folder, name))
    await rm(join(folder, name.replace('.pack', '.idx')))
    await git(['-C', stage, 'unpack-objects', '-q'], { input })
  }
  const lost = await bare.work.git('rev-parse', 'main:b.bin')
  await rm(join(stage, 'objects', lost.slice(0, 2), lost.slice(2)))
  await assert.rejects(made.publish())
  // Packs are not linked either, unless they were walked.
  const input = await git(['-C', stage, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)'])
  await git(['-C', stage, 'pack-objects', '-q', join(folder, 'pack')], { input })
  await git(['-C', stage, 'prune-packed', '-q'])
  await made.prepare()
  await assert.rejects(made.publish(false, false))
  assert.deepEqual(await bare.bare('for-each-ref'), '')
})

test('what a push would refuse is not published, whether packs are linked or written', async () => {
  await using bare = await openBare()
  const { work } = bare
  await work.commit('Modules', {
    'lib/.gitmodules': 'fine',
    '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=sh\n',
  })
  const { stage, ...made } = await openStage(bare)
  await made.prepare()
  const refused = {
    name: 'Error',
    message: /dangerous to check out: \.gitmodules, disallowed submodule url: .* \(gitmodulesUrl\)/,
  }
  await assert.rejects(made.publish(false, false), refused)
  assert.deepEqual(await made.packs(bare.path), [])
  await assert.rejects(made.publish(true, false), refused)
  await made.prepare([ada])
  await assert.rejects(made.publish(false, true), refused)
  assert.deepEqual(await bare.bare('for-each-ref'), '')
})
