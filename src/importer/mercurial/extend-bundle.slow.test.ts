import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { convert, openConversions, refsIn } from '#test/imports/convert-command.ts'
import { makeHgRepository, openHg } from '#test/imports/hg.ts'
import { openHgBundle } from '#test/imports/hg-bundle.ts'
import { openHgChanges } from '#test/imports/hg-changes.ts'
import { describeHistory } from '#test/imports/hg-repository.ts'
import { startGate, startHgServer } from '#test/imports/hg-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { mercurial } from './mercurial.ts'

let folder: string
let bundle: Buffer

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-hg-'))
  bundle = describeHistory(45)
})
after(() => rm(folder, { recursive: true }))

/** A repository that changes, its server behind a proxy that counts, and a workspace that is kept. */
async function openSource(name: string, settings: string[] = [], content = bundle) {
  await using opened = new AsyncDisposableStack()
  const work = await mkdtemp(join(folder, `${name}-`))
  const repository = await makeHgRepository(work, content)
  const hg = opened.use(await openHg(repository))
  const server = opened.use(await startHgServer(repository, settings))
  const gate = opened.use(await startGate(server, {}))
  const workspace = opened.use(await openWorkspace())
  const kept = opened.move()
  const origin = { ...originOf(gate.url), keep_deleted: true }
  /** Also returns the commands that were sent, and the size of the bundle. */
  const convertOnce = async () => {
    const [asked, received] = [gate.asked.length, gate.received]
    const converted = await mercurial.convert(origin, { ...workspace, extend: true })
    const commands = gate.asked.slice(asked).map((url) => new URL(url, gate.url).searchParams.get('cmd'))
    return { ...converted, commands, bytes: gate.received - received }
  }
  return {
    ...openHgChanges(hg, repository),
    repository,
    gate,
    workspace,
    runFirst: convertOnce,
    /** Runs again, and compares with a conversion from nothing, which the first run is itself. */
    async runAgain() {
      const { commit_count, notes, left_out, commands, bytes } = await convertOnce()
      const { mismatches, revisions } = await mercurial.verify(origin, workspace, true)
      deepEqual([mismatches, revisions], [[], commit_count])
      await using fresh = await openWorkspace()
      const whole = await mercurial.convert({ ...origin, url: server.url }, fresh)
      deepEqual(
        { commit_count, notes, left_out },
        { commit_count: whole.commit_count, notes: whole.notes, left_out: whole.left_out },
      )
      equal(await workspace.git('for-each-ref'), await fresh.git('for-each-ref'))
      await workspace.git('fsck', '--strict')
      return { commands, bytes }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const fewRequests = ['capabilities', 'listkeys', 'heads']

test('a later run fetches only the changesets that are new, and gives the result of a conversion from nothing', async () => {
  await using source = await openSource('increments')
  const { runFirst, runAgain, edit, tag, close, merge, run, workspace } = source
  const whole = await runFirst()
  deepEqual(whole.commands, [...fewRequests, 'getbundle'])
  const nothing = await runAgain()
  deepEqual(nothing.commands, fewRequests)
  ok(nothing.bytes < 2000, `${nothing.bytes}`)

  await edit('default', 'dir1/file1.txt', 'changed\n')
  await edit('default', 'new.txt', 'new\n', 'late')
  await edit('late', 'new.txt', 'newer\n')
  const more = await runAgain()
  deepEqual(more.commands, [...fewRequests, 'known', 'getbundle'])
  ok(more.bytes < whole.bytes / 10, `${more.bytes} of ${whole.bytes}`)
  const packs = async () => {
    const names = (await readdir(join(workspace.repository, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'))
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(workspace.repository, 'objects/pack', name))).size),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  const size = await packs()

  // A further head of a branch, a closed branch, a reopened one, a merge, a tag and a bookmark.
  await edit('20', 'dir2/file2.txt', 'from the middle\n')
  await tag('30', 'v1')
  await edit('default', 'done.txt', 'done\n', 'done')
  await close('done')
  await merge('default', 'late')
  await close('late')
  await run('bookmark', '-r', '25', 'here')
  const kinds = await runAgain()
  deepEqual(kinds.commands, [...fewRequests, 'known', 'getbundle'])
  ok((await packs()) - size < 20_000, `${size}`)

  // A new head where the old ones stay, and a moved tag.
  await edit('10', 'dir3/file3.txt', 'another head\n')
  await tag('31', 'v1')
  await edit('late', 'again.txt', 'reopened\n')
  await runAgain()

  await run('bookmark', '-f', '-r', '40', 'here')
  deepEqual((await runAgain()).commands, fewRequests)
  const kept = (await readdir(workspace.folder)).filter((name) => /^(bundle|contents|new)/.test(name))
  deepEqual(kept.sort(), ['bundle.3', 'bundle.json', 'contents.3'])
})

for (const [name, setting] of [
  ['without bundle2', 'experimental.bundle2-advertise=no'],
  ['with changegroup 03', 'experimental.changegroup3=yes'],
] as const)
  test(`increments come from a server ${name}`, async () => {
    await using source = await openSource('old', [setting])
    const { runFirst, runAgain, edit, merge } = source
    await runFirst()
    await edit('default', 'dir1/file1.txt', 'changed\n')
    await edit('15', 'dir1/file1.txt', 'otherwise\n', 'side')
    deepEqual((await runAgain()).commands, [...fewRequests, 'known', 'getbundle'])
    await merge('default', 'branch0').catch(() => edit('side', 'dir1/file1.txt', 'once more\n'))
    deepEqual((await runAgain()).commands, [...fewRequests, 'known', 'getbundle'])
  })

test('changesets that the server sends again are skipped, because not all heads of a large repository fit into headers', async () => {
  const many = openHgBundle()
  for (let head = 0; head < 230; head++) {
    const inner = many.commit({ parents: [], set: { [`file${head % 7}.txt`]: `${head}\n` } })
    many.commit({ parents: [inner], set: { 'a.txt': `${head}\n` } })
  }
  await using source = await openSource('many', [], many.bytes())
  const { runFirst, runAgain, edit } = source
  const whole = await runFirst()
  await edit('0', 'a.txt', 'another\n')
  const { commands, bytes } = await runAgain()
  deepEqual(commands, [...fewRequests, 'getbundle'])
  // Half of it is the list of heads.
  ok(bytes < whole.bytes / 2, `${bytes} of ${whole.bytes}`)
})

test('if changesets have vanished, everything is read again', async () => {
  await using source = await openSource('stripped')
  const { runFirst, runAgain, edit, run } = source
  await edit('default', 'amended.txt', 'one\n')
  await runFirst()
  await run('--config', 'extensions.strip=', 'strip', '-q', '--no-backup', '-r', 'tip')
  deepEqual((await runAgain()).commands, [...fewRequests, 'known', ...fewRequests, 'getbundle'])
  await edit('default', 'amended.txt', 'two\n')
  deepEqual((await runAgain()).commands, [...fewRequests, 'known', 'getbundle'])
  await run('commit', '-q', '--amend', '-m', 'amended', '-d', '1600900000 0')
  deepEqual((await runAgain()).commands, [...fewRequests, 'known', ...fewRequests, 'getbundle'])
})

test('if the order has changed, everything is read again', async () => {
  await using source = await openSource('secret')
  const { runFirst, runAgain, edit, run } = source
  await edit('default', 'secret.txt', 'secret\n', 'x')
  await run('phase', '--force', '--secret', '-r', 'tip')
  await edit('default', 'open.txt', 'open\n', 'x2')
  await edit('default', 'one.txt', 'one\n')
  await runFirst()
  await run('phase', '--draft', '-r', 'branch(x)')
  deepEqual((await runAgain()).commands, [...fewRequests, 'getbundle', ...fewRequests, 'getbundle'])
})

test('the command brings what is new from a folder', async () => {
  await using source = await openSource('folder')
  await using work = await openConversions()
  const { repository, edit, close, run } = source
  equal((await convert(repository, work.out('a.git'))).code, 0)
  await edit('default', 'late.txt', 'late\n', 'late')
  await edit('default', 'more.txt', 'more\n')
  const again = await convert(repository, work.out('a.git'), '--json')
  const { moved, verification } = JSON.parse(again.output)
  deepEqual([moved.created, moved.updated, moved.commits, moved.rewritten], [['refs/heads/late'], ['refs/heads/main'], 2, false])
  deepEqual(verification.mismatches, [])
  await close('late')
  await run('--config', 'extensions.strip=', 'strip', '-q', '--no-backup', '-r', 'desc("edit more.txt")')
  const less = JSON.parse((await convert(repository, work.out('a.git'), '--json')).output)
  deepEqual([less.moved.removed, less.moved.updated, less.moved.rewritten], [['refs/heads/late'], ['refs/heads/main'], true])
  equal((await convert(repository, work.out('b.git'))).code, 0)
  equal(await refsIn(work.out('a.git')), await refsIn(work.out('b.git')))
})
