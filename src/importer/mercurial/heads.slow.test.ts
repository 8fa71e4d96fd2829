import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeHgRepository, openHg } from '#test/imports/hg.ts'
import { openHgBundle } from '#test/imports/hg-bundle.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { mercurial } from './mercurial.ts'

async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), 'belfry-hg-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Each message is the number of its changeset. */
function openNumbered() {
  const bundle = openHgBundle()
  let next = 0
  return {
    ...bundle,
    add: (wish: Parameters<typeof bundle.commit>[0]) => bundle.commit({ message: String(next++), ...wish }),
  }
}

test('a branch is the tip that Mercurial names, other open heads have a suffix, and closed ones are kept on request', async () => {
  await using folder = await openFolder()
  const bundle = openNumbered()
  const { add, node } = bundle
  const root = add({ set: { a: '0\n' } })
  const side = add({ branch: 'side', set: { a: '1\n' } })
  // Its only head on `side` is below, though it has no child of the same branch.
  const way = add({ set: { a: '2\n' } })
  add({ branch: 'side', closes: true })
  const early = add({ parents: [root], branch: 'work', set: { b: '1\n' } })
  const late = add({ parents: [root], branch: 'work', set: { b: '2\n' } })
  const main = add({ parents: [way, early], set: { b: '1\n' } })
  add({ parents: [main], branch: 'left', set: { c: '1\n' } })
  const left = add({ branch: 'left', closes: true })
  const over = add({ parents: [main], branch: 'done', closes: true, set: { d: '1\n' } })
  const tip = add({ parents: [main, over], set: { d: '1\n' } })
  const repository = await makeHgRepository(folder.path, bundle.bytes())
  await using server = await startHgServer(repository)
  await using hg = await openHg(repository)
  const listed = (await hg.run('branches', '-T', '{branch} {node}\\n')).toString().trim().split('\n')
  const named = Object.fromEntries(listed.map((line) => line.split(' ') as [string, string]))
  deepEqual(named, { default: node(tip), work: node(late) })

  const convert = async (keep_deleted: boolean) => {
    await using workspace = await openWorkspace()
    const converted = await mercurial.convert({ ...originOf(server.url), keep_deleted }, workspace)
    const refs = await workspace.git('for-each-ref', '--format=%(refname:lstrip=4) %(subject)', 'refs/import/orig/heads')
    return { ...converted, refs: refs.split('\n') }
  }
  const plain = await convert(false)
  const open = [`main ${tip}`, `work ${late}`, `work-${node(early).slice(0, 12)} ${early}`]
  deepEqual(plain.refs, open)
  deepEqual(plain.notes, { 'further heads of branches': 1 })
  deepEqual(plain.left_out, [
    { path: 'side', revisions: [side + 2, side + 2], count: 1, reason: 'closed' },
    { path: 'left', revisions: [left - 1, left], count: 2, reason: 'closed' },
  ])
  const kept = await convert(true)
  deepEqual(kept.left_out, [])
  deepEqual(kept.refs, [`closed/left ${left}`, `closed/side ${side + 2}`, ...open])
})

test('a repository whose default branch is closed still has it', async () => {
  await using folder = await openFolder()
  const bundle = openNumbered()
  bundle.add({ set: { a: '0\n' } })
  bundle.add({ closes: true })
  await using server = await startHgServer(await makeHgRepository(folder.path, bundle.bytes()))
  await using workspace = await openWorkspace()
  const { default_branch, left_out } = await mercurial.convert(originOf(server.url), workspace)
  deepEqual([default_branch, left_out], ['main', []])
  equal(await workspace.git('log', '--format=%s', 'refs/import/orig/heads/main'), '1\n0')
})

test('authors in odd forms are split at the first address', async () => {
  await using folder = await openFolder()
  const bundle = openNumbered()
  const users = {
    'A <a@x> from B <b@y>': 'A <a@x>',
    'A \\<a@x\\>': 'A <a@x>',
    'A <a@x>, B <b@y>': 'A <a@x>',
    'A <<a@x>>': 'A <a@x>',
    'A <a@x> <b@y>': 'A <a@x>',
    'A (of B) <a@x': 'A (of B) <a@x>',
    'a@x, b@y': 'a@x, b@y <a@x,_b@y>',
    'A > B': 'A  B <none@none>',
    '<>': 'unknown <none@none>',
  }
  for (const user of Object.keys(users)) bundle.add({ user, set: { a: `${user}\n` } })
  await using server = await startHgServer(await makeHgRepository(folder.path, bundle.bytes()))
  await using workspace = await openWorkspace()
  await mercurial.convert(originOf(server.url), workspace)
  const written = await workspace.git('log', '--reverse', '--format=%an <%ae>', 'refs/import/orig/heads/main')
  deepEqual(written.split('\n'), Object.values(users))
  deepEqual(
    workspace.authors().map(({ remote_id }) => remote_id),
    Object.keys(users),
  )
})

test('a source for which hg verify fails is called damaged, with the words of the server', async () => {
  await using folder = await openFolder()
  const bundle = openNumbered()
  const texts = Array.from({ length: 40 }, (_, at) => [`f${at}`, `${at}\n`.repeat(500)] as const)
  bundle.add({ set: Object.fromEntries(texts) })
  const repository = await makeHgRepository(folder.path, bundle.bytes())
  const log = join(repository, '.hg/store/data/f20.i')
  const bytes = await readFile(log)
  await writeFile(log, bytes.subarray(0, bytes.length / 2))
  for (const engine of ['zstd', 'zlib', 'none']) {
    await using server = await startHgServer(repository, [`server.compressionengines=${engine}`])
    await using workspace = await openWorkspace()
    await rejects(mercurial.convert(originOf(server.url), workspace), ({ message }: Error) => {
      match(message, /^The source is damaged: .*hg verify/)
      if (engine !== 'none') match(message, /Internal Server Error/)
      return true
    })
  }
})
