import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect, injecting } from '#test/forge.ts'
import { assertSettled, eventsOf, installHook, openEngine, type Worktree } from '#test/git.ts'

const inject = injecting(openSmall)
const megabyte = 1 << 20

/** A repository of Ada's where an object, and a push, may have a megabyte. */
async function openSmall() {
  const engine = await openEngine({ settings: { BELFRY_OBJECT_SIZE: '1', BELFRY_PUSH_SIZE: '1' } })
  await engine.work.commit('Begin')
  await engine.work.push()
  return { ...engine, path: engine.forge.belfry.storage.pathOf(engine.id) }
}

/** Commits a link whose target is this; the pack of a text that repeats is small. */
async function commitLink(work: Worktree, name: string, target: string) {
  await writeFile(join(work.folder, 'target'), target)
  const sha = await work.git('hash-object', '-w', 'target')
  await work.git('update-index', '--add', '--cacheinfo', `120000,${sha},${name}`)
  await work.git('commit', '--quiet', '-m', `Link ${name}`)
}

async function commitMessage(work: Worktree, message: string) {
  await writeFile(join(work.folder, 'message'), message)
  await work.git('commit', '--quiet', '--allow-empty', '-F', 'message')
  return work.head()
}

test('a push with an object over the limit is refused with advice, also when the operator has hooks', inject(async (small) => {
  const { work, forge, ada, id, path } = small
  const begin = await work.head()
  const attempts = {
    link: () => commitLink(work, 'link', 'a'.repeat(megabyte + 1)),
    file: () => work.commit('Large', { 'large.txt': 'b'.repeat(megabyte + 1) }),
    message: () => commitMessage(work, 'm'.repeat(megabyte + 1)),
  }
  for (const [kind, attempt] of Object.entries(attempts)) {
    await attempt()
    const { status, stderr } = await work.attempt('push', 'origin', 'HEAD:refs/heads/main', `HEAD:refs/heads/${kind}`)
    assert.equal(status, 1, kind)
    assert.match(stderr, /remote: error: the (blob|commit) \w{40} has \d+ bytes, and one may have at most 1048576\./)
    assert.match(stderr, /remote: Take it out of your commits, or store it with Git LFS/)
    await work.git('reset', '--quiet', '--hard', begin)
  }
  // Many objects arrive as a pack that is kept, few as single files: both are looked at.
  await work.commit('Many', Object.fromEntries(Array.from({ length: 120 }, (_, file) => [`${file}`, `${file}`])))
  await work.commit('Large', { 'large.txt': 'c'.repeat(megabyte + 1) })
  await installHook(path, 'update', '[ "$1" != refs/heads/closed ]')
  assert.match((await work.attempt('push', 'origin', 'HEAD')).stderr, /one may have at most/)
  await work.git('reset', '--quiet', '--hard', begin)
  await work.push('HEAD:refs/heads/open')
  assert.match((await work.attempt('push', 'origin', 'HEAD:refs/heads/closed')).stderr, /hook declined/)
  assert.deepEqual([...(await forge.belfry.storage.refsOf(id)).keys()], ['refs/heads/main', 'refs/heads/open'])
  assert.deepEqual(
    (await eventsOf(ada, 'ada/engine')).map(({ payload }) => payload.head ?? payload.ref),
    ['main', begin, 'open'],
  )
  await assertSettled(forge, id)
}))

test('a push of more bytes than the limit is refused', inject(async ({ work }) => {
  await work.commit('Two', { one: randomBytes(700_000), two: randomBytes(700_000) })
  const { status, stderr } = await work.attempt('push', 'origin', 'HEAD')
  assert.equal(status, 1)
  assert.match(stderr, /pack exceeds maximum allowed size/)
}))

test('objects that are larger than the limit are refused when they are read, and a long message is cut', inject(async (small) => {
  const { work, forge, path } = small
  // As they may be there from before the limit.
  await work.commit('File', { 'large.txt': 'c'.repeat(megabyte + 1), 'largest.txt': 'd'.repeat(megabyte) })
  await commitLink(work, 'link', 'a'.repeat(megabyte + 1))
  await commitLink(work, 'long', 'b'.repeat(5000))
  await work.git('push', '--quiet', path, 'HEAD:refs/heads/main')
  const long = await commitMessage(work, 'm'.repeat(200_000))
  const huge = await commitMessage(work, 'm'.repeat(megabyte + 1))
  await work.git('push', '--quiet', path, `${huge}:refs/heads/huge`)

  for (const name of ['link', 'long', 'large.txt']) {
    const { errors } = await expect(403, await forge.nobody.get(`/repos/ada/engine/contents/${name}`))
    assert.deepEqual(errors, [{ resource: 'Blob', code: 'too_large', field: 'data' }], name)
  }
  assert.equal((await forge.nobody.read('/repos/ada/engine/contents/largest.txt')).size, megabyte)
  await expect(403, await forge.nobody.get(`/repos/ada/engine/commits/${huge}`))
  await expect(403, await forge.nobody.get('/repos/ada/engine/branches/huge'))
  const { commit } = await forge.nobody.read(`/repos/ada/engine/commits/${long}`)
  assert.match(commit.message, /^m{65536}\n\n\[The rest of this message is not shown: the commit has 200\d\d\d bytes\.\]$/)
  const { commits } = await forge.nobody.read(`/repos/ada/engine/compare/main...huge`)
  assert.match(commits[1].commit.message, /^m{65536}\n\n\[The rest/)
  assert.equal((await fetch(`${forge.web}/ada/engine/commit/${huge}`)).status, 403)
}))
