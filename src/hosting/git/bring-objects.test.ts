import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { compare } from '#git/compare.ts'
import { bringObjects, isMergeable, merge } from '#git/merge.ts'
import { Refusal } from '#platform/errors.ts'
import { openBare } from '#test/bare.ts'
import { injecting } from '#test/forge.ts'
import { installHook } from '#test/git.ts'

const inject = injecting(openFork)
const who = { name: 'Ada', email: 'ada@example.com' }
const at = new Date('2026-03-01T12:00:00Z')

/** A repository and a fork of it that is one commit ahead. */
async function openFork() {
  const bare = await openBare()
  const { storage, work } = bare
  await work.commit('Begin', { 'list.txt': 'a\n' })
  await work.push('main')
  await storage.copy(1, 2, 'main', null)
  await work.git('remote', 'add', 'fork', storage.pathOf(2))
  const sha = await work.commit('Theirs', { 'theirs.txt': 'theirs\n' })
  await work.git('push', '--quiet', 'fork', 'HEAD:refs/heads/topic')
  return { ...bare, sha }
}

const refused = (reason: string) => (error: unknown) => error instanceof Refusal && error.reason === reason

test('a commit copied from a fork can be compared and merged', inject(async ({ storage, sha, bare, path }) => {
  await assert.rejects(isMergeable(storage, 1, 'main', sha), refused('missing'))
  await bringObjects(storage, 2, 1, sha, 'refs/pull/7/head')
  assert.equal(await bare('rev-parse', 'refs/pull/7/head'), sha)
  assert.equal(await bare('for-each-ref', '--format=%(refname)'), 'refs/heads/main\nrefs/pull/7/head')
  assert.equal(existsSync(join(path, 'FETCH_HEAD')), false)
  assert.equal((await compare(storage, 1, 'main', 'refs/pull/7/head')).ahead_by, 1)
  assert.deepEqual(await isMergeable(storage, 1, 'main', sha), { state: 'clean' })
  const merged = await merge(storage, 1, {
    base: 'main',
    head: sha,
    method: 'squash',
    author: who,
    committer: who,
    at,
    message: 'Theirs',
  })
  assert.ok('sha' in merged)
  assert.equal(await bare('rev-parse', `${merged.sha}^{tree}`), await bare('rev-parse', `${sha}^{tree}`))
  await storage.erase(2)
  await bare('fsck', '--strict', '--connectivity-only')
}))

test('a rewritten branch, and a commit that the branch has just left, can be copied', inject(async (fork) => {
  const { storage, work, sha, bare } = fork
  await bringObjects(storage, 2, 1, sha, 'refs/pull/7/head')
  await work.git('commit', '--quiet', '--amend', '-m', 'Theirs, better')
  const better = await work.head()
  await work.git('push', '--quiet', '--force', 'fork', 'HEAD:refs/heads/topic')
  await bringObjects(storage, 2, 1, better, 'refs/pull/7/head')
  assert.equal(await bare('rev-parse', 'refs/pull/7/head'), better)
  await bringObjects(storage, 2, 1, sha, 'refs/pull/8/head')
  assert.equal(await bare('rev-parse', 'refs/pull/8/head'), sha)
}))

test('a branch of the repository itself gets a ref as well', inject(async ({ storage, work, bare }) => {
  const sha = await work.git('rev-parse', 'main~1')
  await bringObjects(storage, 1, 1, sha, 'refs/pull/1/head')
  assert.equal(await bare('rev-parse', 'refs/pull/1/head'), sha)
}))

test('no hook runs, on either side', inject(async ({ storage, folder, sha }) => {
  const noise = `echo ran >> ${join(folder, 'noise')}`
  for (const id of [1, 2]) {
    for (const hook of ['reference-transaction', 'post-update', 'update', 'pre-auto-gc'])
      await installHook(storage.pathOf(id), hook, noise)
  }
  await bringObjects(storage, 2, 1, sha, 'refs/pull/7/head')
  await bringObjects(storage, 1, 1, sha, 'refs/pull/8/head')
  assert.equal(existsSync(join(folder, 'noise')), false)
}))

test('only commits are copied, and only to refs/pull', inject(async ({ storage, work, sha, bare }) => {
  const refs = [
    'refs/heads/main',
    'refs/pull/',
    'refs/pull/7/head:refs/heads/main',
    'refs/pull/../heads/main',
    'refs/pull/7/head ',
    '--all',
    'HEAD',
  ]
  for (const ref of refs) await assert.rejects(bringObjects(storage, 2, 1, sha, ref), refused('invalid'), ref)
  const tree = await work.git('rev-parse', `${sha}^{tree}`)
  for (const name of [tree, '0'.repeat(40), 'topic', sha.slice(0, 10), `${sha}\n`, '--all', '']) {
    await assert.rejects(bringObjects(storage, 2, 1, name, 'refs/pull/7/head'), refused('missing'), name)
  }
  await assert.rejects(bringObjects(storage, 3, 1, sha, 'refs/pull/7/head'), refused('missing'))
  await assert.rejects(bringObjects(storage, 2, 3, sha, 'refs/pull/7/head'), refused('missing'))
  assert.equal(await bare('for-each-ref', '--format=%(refname)'), 'refs/heads/main')
}))
