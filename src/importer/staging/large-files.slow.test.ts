import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { openHistory, people } from '#test/imports/histories.ts'
import { needs } from '#test/needs.ts'
import { findLargeBlobs, findLargeFiles, largeFile } from './large-files.ts'
import { publish } from './publish.ts'
import { prepareRefs } from './rewrite/prepare-refs.ts'
import { rewriteHistory } from './rewrite/rewrite-history.ts'

needs({ 'git-lfs': 'git-lfs' })

const { signal } = new AbortController()
const from = 'refs/import/orig'
const over = 5000

const pointer = (oid: string, size: number) => `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

/** A file that grows, shrinks, moves and is deleted; a folder with only large files; and a file that is large on another branch only. */
async function openStage() {
  const stage = await openHistory({
    commits: 30,
    large: [
      { at: 3, path: 'assets/deep/big [1] one.bin', size: 5001 },
      { at: 6, path: 'assets/deep/big [1] one.bin', size: 200, fill: 1 },
      { at: 9, path: 'assets/deep/big [1] one.bin', size: 7000, fill: 2 },
      { at: 12, path: 'moved.bin', size: 7000, fill: 2 },
      { at: 12, path: '.gitattributes', size: 200, fill: 3 },
      { at: 15, path: 'only/this.iso', size: 2_000_000, fill: 4 },
      { at: 18, path: 'exact.bin', size: 5000, fill: 5 },
    ],
    texts: [
      { at: 7, path: 'assets/deep/big [1] one.bin', text: '' },
      { at: 8, path: 'assets/deep/big [1] one.bin', text: pointer('0'.repeat(64), 5) },
    ],
    removed: [{ at: 20, path: 'only/this.iso' }],
  })
  const { folder, git } = stage
  return Object.assign(stage, {
    store: join(folder, 'lfs'),
    /** Ids, sizes and paths of all files of a commit. */
    files: (commit: string) => git(['ls-tree', '-r', '-l', commit]).split('\n'),
    /** The sizes of all reachable blobs, the largest first. */
    sizes(...refs: string[]) {
      const objects = git(['rev-list', '--objects', '--no-object-names', ...refs.map((ref) => `--glob=${ref}`)])
      const sizes = git(['cat-file', '--batch-check=%(objecttype) %(objectsize)'], objects).matchAll(/^blob (\d+)$/gm)
      return [...sizes].map(([, size]) => Number(size)).sort((one, other) => other - one)
    },
  })
}

test('large files are listed with each path and a branch; a file of exactly the limit is not large', async () => {
  await using stage = await openStage()
  const { git, repository } = stage
  assert.equal(largeFile, 104_857_600)
  assert.deepEqual([...(await findLargeBlobs(repository, { from, signal }))], [])
  const blob = git(['hash-object', '-w', '--stdin'], 'x'.repeat(6000))
  const tree = git(['mktree', '-z'], Buffer.from(`100644 blob ${blob}\tt\xf6pic.bin\0`, 'latin1'))
  git(['update-ref', `${from}/heads/topic`, git(['-c', 'user.name=x', '-c', 'user.email=x', 'commit-tree', '-m', 'topic', tree])])
  // An unreachable blob.
  git(['hash-object', '-w', '--stdin'], 'y'.repeat(9000))

  const found = await findLargeFiles(repository, { from, over, signal, default_branch: 'main' })
  const id = (name: string) => git(['rev-parse', name])
  const main = `${from}/heads/main`
  const big = 'assets/deep/big [1] one.bin'
  assert.deepEqual(
    new Set(found),
    new Set([
      { ref_name: 'refs/heads/main', path: big, oid: id(`${main}:${big}`), size: 7000 },
      { ref_name: 'refs/heads/main', path: big, oid: id(`${main}~27:${big}`), size: 5001 },
      { ref_name: 'refs/heads/main', path: 'moved.bin', oid: id(`${main}:${big}`), size: 7000 },
      { ref_name: 'refs/heads/main', path: 'only/this.iso', oid: id(`${main}~15:only/this.iso`), size: 2_000_000 },
      { ref_name: 'refs/heads/topic', path: 't\ufffdpic.bin', oid: blob, size: 6000 },
    ]),
  )
  assert.deepEqual(
    found.map(({ path }) => path),
    [big, big, 'moved.bin', 'only/this.iso', 't\ufffdpic.bin'],
  )
  const elsewhere = await findLargeFiles(repository, { from, over, signal, default_branch: 'none' })
  assert.deepEqual(elsewhere.map(({ oid }) => oid).sort(), found.map(({ oid }) => oid).sort())
  assert.equal((await findLargeFiles(repository, { from, over: 4999, signal })).length, 6)
})

test('with LFS, every version of a file that was ever large is a pointer, and the LFS client accepts it', async () => {
  await using stage = await openStage()
  const { folder, git, repository, store } = stage
  const [author] = people
  const authors = [
    { original_name: author?.name ?? '', original_email: author?.email ?? '', name: 'New', email: 'new@example.com' },
  ]
  const { objects } = await prepareRefs(repository, { signal, authors, large_files: { use_lfs: 'opt_in', store, over } })

  const big = 'assets/deep/big [1] one.bin'
  const contents = (place: string) => execFileSync('git', ['-C', repository, 'cat-file', 'blob', place], { maxBuffer: 1 << 26 })
  for (const [back, path] of [
    [27, big],
    [24, big],
    [0, big],
    [0, 'moved.bin'],
    [15, 'only/this.iso'],
  ] as const) {
    const original = contents(`${from}/heads/main~${back}:${path}`)
    const oid = createHash('sha256').update(original).digest('hex')
    assert.equal(contents(`refs/heads/main~${back}:${path}`).toString(), pointer(oid, original.length))
    assert.ok(readFileSync(join(store, oid.slice(0, 2), oid.slice(2, 4), oid)).equals(original))
    assert.ok(objects.some((object) => object.oid === oid && object.size === original.length))
  }
  // Empty files and pointers stay, as in LFS.
  for (const back of [22, 23])
    assert.equal(git(['rev-parse', `refs/heads/main~${back}:${big}`]), git(['rev-parse', `${from}/heads/main~${back}:${big}`]))
  assert.deepEqual(objects.map(({ size }) => size).sort(), [200, 2_000_000, 5001, 7000])
  const stored = globSync('**/*', { cwd: store, withFileTypes: true }).filter((each) => each.isFile())
  assert.deepEqual(stored.map(({ name }) => name).sort(), objects.map(({ oid }) => oid).sort())

  const attributes = (back: number) => git(['show', `refs/heads/main~${back}:.gitattributes`])
  const line = (path: string) => `/${path} filter=lfs diff=lfs merge=lfs -text`
  const pattern = line('assets/deep/big[[:space:]]\\[1\\][[:space:]]one.bin')
  assert.equal(attributes(27), pattern)
  const earlier = contents(`${from}/heads/main:.gitattributes`).toString('latin1')
  assert.equal(contents('refs/heads/main:.gitattributes').toString('latin1'), `${earlier}\n${pattern}\n${line('moved.bin')}\n`)
  assert.equal(git(['rev-parse', 'refs/heads/main~29:src']), git(['rev-parse', `${from}/heads/main~29:src`]))
  assert.deepEqual(stage.sizes('refs/heads', 'refs/tags', 'refs/import/lean').slice(0, 1), [5000])
  git(['fsck', '--strict', '--no-dangling'])

  const clone = join(folder, 'clone')
  const env = { ...process.env, HOME: folder, GIT_LFS_SKIP_SMUDGE: '1', GIT_CONFIG_NOSYSTEM: '1' }
  const lfs = (...args: string[]) => execFileSync('git', args, { cwd: clone, env }).toString()
  execFileSync('git', ['clone', '--quiet', repository, clone], { env })
  cpSync(store, join(clone, '.git', 'lfs', 'objects'), { recursive: true })
  lfs('lfs', 'install', '--local', '--skip-smudge')
  lfs('lfs', 'checkout')
  assert.match(lfs('lfs', 'fsck'), /Git LFS fsck OK/)
  assert.ok(readFileSync(join(clone, big)).equals(contents(`${from}/heads/main:${big}`)))
  assert.equal(lfs('status', '--porcelain'), '')
  assert.equal(lfs('lfs', 'ls-files', '--name-only').trim(), `${big}\nmoved.bin`)
})

test('without LFS, large blobs are removed from history and nothing else changes', async () => {
  await using stage = await openStage()
  const { git, repository, store, files } = stage
  const main = `${from}/heads/main`
  await prepareRefs(repository, { signal, authors: [], large_files: { use_lfs: 'opt_out', store, over } })
  for (const back of [0, 12, 15, 24, 27, 29]) {
    const expected = files(`${main}~${back}`).filter((line) => Number(/ (\d+)\t/.exec(line)?.[1]) <= over)
    assert.deepEqual(files(`refs/heads/main~${back}`), expected)
  }
  assert.doesNotMatch(git(['ls-tree', '--name-only', 'refs/heads/main~15']), /only/)
  assert.equal(git(['rev-parse', 'refs/heads/main~28']), git(['rev-parse', `${main}~28`]))
  assert.notEqual(git(['rev-parse', 'refs/heads/main~27']), git(['rev-parse', `${main}~27`]))
  assert.equal(git(['rev-list', '--count', 'refs/heads/main']), '30')
  assert.deepEqual(stage.sizes('refs/heads', 'refs/tags', 'refs/import/lean').slice(0, 1), [5000])
  git(['fsck', '--strict', '--no-dangling'])
  assert.deepEqual(globSync('**/*', { cwd: store }), [])
})

test('another choice starts from the original refs, and unwanted refs are deleted', async () => {
  await using stage = await openStage()
  const { git, repository, store } = stage
  const original = git(['rev-parse', `${from}/heads/main`])
  const choose = async (use_lfs: 'opt_in' | 'opt_out') => {
    await prepareRefs(repository, { signal, authors: [], large_files: { use_lfs, store, over } })
    return git(['rev-parse', 'refs/heads/main'])
  }
  const [removed, kept] = [await choose('opt_out'), await choose('opt_in')]
  assert.equal(new Set([removed, kept, original]).size, 3)
  assert.equal(git(['rev-parse', `${from}/heads/main`]), original)
  git(['update-ref', 'refs/heads/a', original])
  git(['update-ref', '-d', `${from}/tags/v30`])
  git(['update-ref', `${from}/heads/a/b`, original])
  assert.equal(await choose('opt_out'), removed)
  await prepareRefs(repository, { signal, authors: [] })
  const refs = git(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags', 'refs/import/lean']).split(
    '\n',
  )
  assert.deepEqual(
    refs,
    ['heads/a/b', 'heads/main', 'import/lean/heads/a/b', 'import/lean/heads/main'].map((name) => `refs/${name} ${original}`),
  )
})

test('a tag of a large file becomes a tag of its pointer, or is deleted', async () => {
  await using stage = await openStage()
  const { git, repository, store } = stage
  const blob = git(['rev-parse', `${from}/heads/main:moved.bin`])
  const text = `object ${blob}\ntype blob\ntag it\ntagger A <a@example.com> 1400000000 +0000\n\nit\n`
  git(['update-ref', `${from}/tags/it`, git(['hash-object', '-t', 'tag', '-w', '--stdin'], text)])
  git(['update-ref', `${from}/tags/plain`, blob])
  git(['update-ref', `${from}/tags/folder`, git(['rev-parse', `${from}/heads/main^{tree}`])])
  await prepareRefs(repository, { signal, authors: [], large_files: { use_lfs: 'opt_in', store, over } })
  const replacement = git(['rev-parse', 'refs/heads/main:moved.bin'])
  for (const name of ['it^{}', 'plain', 'folder:moved.bin']) assert.equal(git(['rev-parse', `refs/tags/${name}`]), replacement)
  await prepareRefs(repository, { signal, authors: [], large_files: { use_lfs: 'opt_out', store, over } })
  const tags = git(['for-each-ref', '--format=%(refname)', 'refs/tags'])
    .split('\n')
    .map((ref) => basename(ref))
  assert.deepEqual(tags, ['folder', 'v30'])
})

test('a published repository has no large blobs, and its authors can be corrected', async () => {
  await using stage = await openStage()
  const { folder, git, repository, store } = stage
  const [author] = people
  for (const use_lfs of ['opt_in', 'opt_out'] as const) {
    await prepareRefs(repository, { signal, authors: [], large_files: { use_lfs, store, over } })
    const target = join(folder, `${use_lfs}.git`)
    execFileSync('git', ['init', '--quiet', '--bare', target])
    const { refs } = await publish(repository, target, { signal, recompress: false, walked: true, onProgress: () => {} })
    assert.deepEqual([...(await findLargeBlobs(target, { from, over, signal }))], [])
    const read = (...args: string[]) =>
      execFileSync('git', ['-C', target, ...args])
        .toString()
        .trim()
    assert.equal(read('rev-parse', `${from}/heads/main`), refs['refs/heads/main'])

    const authors = [
      { original_name: author?.name ?? '', original_email: author?.email ?? '', name: 'New', email: 'new@example.com' },
    ]
    const corrected = await rewriteHistory(target, { from, authors, signal })
    assert.equal(read('for-each-ref', 'refs/heads', 'refs/tags'), '')
    const log = (tip: string, format: string) => read('log', '--topo-order', `--format=${format} %T`, tip)
    const expected = log(`${from}/heads/main`, '%an %ae').replaceAll(`${author?.name} ${author?.email} `, 'New new@example.com ')
    assert.equal(log(corrected.refs['refs/heads/main'] ?? '', '%an %ae'), expected)
    await prepareRefs(repository, { signal, authors, large_files: { use_lfs, store, over } })
    assert.equal(git(['rev-parse', 'refs/heads/main']), corrected.refs['refs/heads/main'])
  }
})
