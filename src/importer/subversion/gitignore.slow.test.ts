import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { git } from '#git/git.ts'
import {
  blobId,
  exported,
  filesOf,
  importing,
  killHalfWay,
  recordsOf,
  refsOf,
  type Workspace,
} from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { ignoreFiles, names, tellIgnores } from '#test/imports/svn-ignore-history.ts'
import { openSvnFolder, startApache, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { connectTo } from './connection.ts'
import { writeIgnoreFile } from './gitignore.ts'
import { inspectByDump } from './inspect-dump.ts'
import { settlePlan } from './plan.ts'
import { subversion } from './subversion.ts'
import { openInspector } from './verify.ts'

const run = promisify(execFile)
const isIgnoreFile = (file: string) => /[ /]\.gitignore$/.test(file)

test('ignore lists become .gitignore files if requested, and nothing else changes', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'ignores')
  const head = await makeSvnRepository(path, tellIgnores)
  await using wire = await startSvnserve(folder.path)
  await using web = await startApache(folder.path)
  await using plain = await openWorkspace()
  await using one = await openWorkspace()
  await using other = await openWorkspace()

  // Without the option, git has the same files as Subversion.
  const { notes: none } = await importing(originOf(`${wire.url}ignores`), plain)
  assert.deepEqual(Object.keys(none), [])
  for (const recorded of await recordsOf(plain)) {
    if ('ref' in recorded)
      assert.deepEqual((await filesOf(plain, recorded.commit)).toSorted(), (await exported(path, recorded.root)).toSorted())
  }
  assert.deepEqual((await subversion.verify(originOf(`${wire.url}ignores`), plain, true)).mismatches, [])

  const chosen = { ...originOf(`${wire.url}ignores`), svn_ignore: true }
  const { notes } = await importing(chosen, one)
  assert.deepEqual(notes, {
    'ignore lists turned into .gitignore': 8,
    'ignore lists left out for a .gitignore of the source': 5,
    'ignore lists outside of branches and tags': 1,
  })
  const refs = (await recordsOf(one)).filter((recorded) => 'ref' in recorded)
  assert.deepEqual(new Set(refs.map(({ ref }) => ref.replace('refs/import/orig/', ''))), new Set(Object.keys(ignoreFiles)))
  for (const { ref, root, commit } of refs) {
    const files = await filesOf(one, commit)
    const wanted = Object.entries(ignoreFiles[ref.replace('refs/import/orig/', '')] ?? {})
    assert.deepEqual(
      files.filter(isIgnoreFile).toSorted(),
      wanted.map(([name, content]) => `100644 ${blobId(content)} ${name}`).toSorted(),
      ref,
    )
    const others = (await exported(path, root)).filter((file) => !isIgnoreFile(file))
    assert.deepEqual(files.filter((file) => !isIgnoreFile(file)).toSorted(), others.toSorted(), ref)
  }
  assert.doesNotMatch(await one.git('fsck', '--strict'), /error|warning/)

  await importing({ ...originOf(`${web.url}ignores`), svn_ignore: true }, other)
  assert.equal(await refsOf(other), await refsOf(one))
  for (const [origin, workspace] of [
    [chosen, one],
    [{ ...originOf(`${web.url}ignores`), svn_ignore: true }, other],
  ] as const) {
    const verified = await subversion.verify(origin, workspace, true)
    assert.deepEqual(verified.mismatches, [])
    assert.ok(verified.revisions > 12)
    const connection = await connectTo(origin, workspace, workspace.folder)
    const { repository } = await settlePlan(origin, connection, workspace)
    await using quick = await openInspector(origin, repository, connection, workspace, { ignores: true })
    await using slow = inspectByDump(repository, connection, true)
    for (const place of ['', 'trunk', 'trunk/moved', 'trunk/slashes', 'branches/one', 'tags/v1/lib']) {
      const [said, wanted] = await Promise.all([quick, slow].map((each) => each.list(place, head, () => false)))
      assert.equal(writeIgnoreFile(said?.lists ?? {}), writeIgnoreFile(wanted?.lists ?? {}), place)
    }
  }
  await assertSameIgnored(path, one)
})

/** Subversion and git ignore the same unversioned names. */
async function assertSameIgnored(repository: string, workspace: Workspace) {
  await using folder = await openSvnFolder()
  const [svn, clone] = [join(folder.path, 'svn'), join(folder.path, 'git')]
  await run('svn', ['checkout', '--quiet', `file://${repository}/trunk`, svn])
  await git(['init', '--quiet', clone])
  await git(['-C', clone, 'fetch', '--quiet', workspace.repository, 'refs/import/orig/heads/main'])
  await git(['-C', clone, 'checkout', '--quiet', 'FETCH_HEAD'])
  // Except where the source has its own .gitignore.
  const places = ['', 'moved/', 'own/', 'only/', 'slashes/']
  const paths = places.flatMap((place) => names.map((name) => place + name))
  for (const path of paths) for (const top of [svn, clone]) writeFileSync(join(top, path), '')
  const settings = ['--config-option', 'config:miscellany:global-ignores=']
  const { stdout } = await run('svn', ['status', '--no-ignore', ...settings], { cwd: svn })
  const ignored = [...stdout.matchAll(/^I {7}(.*)$/gm)].map(([, path = '']) => path)
  const said = await git(['-C', clone, 'check-ignore', '-z', '--stdin'], { input: paths.join('\0') })
  assert.ok(ignored.length > 20 && ignored.length < paths.length - 20)
  assert.deepEqual(said.split('\0').slice(0, -1).toSorted(), ignored.toSorted())
}

test('generated .gitignore files are verified too, hide no other difference, and survive a kill', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'ignores'), tellIgnores)
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const origin = { ...originOf(`${server.url}ignores`), svn_ignore: true }
  const { notes } = await importing(origin, workspace)
  const main = await workspace.git('rev-parse', 'refs/import/orig/heads/main')
  const record = await readFile(join(workspace.folder, 'arranged.jsonl'), 'utf8')
  const inline = (path: string, content: string, mode = '100644') =>
    `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`
  for (const [change, path, what] of [
    [inline('.gitignore', '/*.o\n'), '.gitignore', 'has another content'],
    [inline('only/.gitignore', '/x\n', '100755'), 'only/.gitignore', 'has the mode 100755'],
    ['D own/.gitignore\n', 'own/.gitignore', 'is missing in git'],
    ['D only\n', 'only/.gitignore', 'is missing in git'],
    [inline('slashes/.gitignore', '/build/\n'), 'slashes/.gitignore', 'is in git and not in Subversion'],
    [inline('kept/.gitignore', '/*.never\n'), 'kept/.gitignore', 'has another content'],
    ['D kept/.gitignore\n', 'kept/.gitignore', 'is missing in git'],
    [inline('a.txt', 'c\n'), 'a.txt', 'has another content'],
  ] as const) {
    const input = `commit refs/test\ncommitter x <x> 0 +0000\ndata 0\nfrom ${main}\n${change}\n`
    await git(['-C', workspace.repository, 'fast-import', '--quiet', '--force'], { input })
    const tampered = await workspace.git('rev-parse', 'refs/test')
    await writeFile(join(workspace.folder, 'arranged.jsonl'), record.replaceAll(main, tampered))
    const { mismatches } = await subversion.verify(origin, workspace, false)
    assert.deepEqual(
      mismatches.filter(({ where }) => where === 'heads/main'),
      [{ where: 'heads/main', path, what }],
    )
  }
  // A killed import resumes with the state of the lists.
  await writeFile(join(workspace.folder, 'arranged.jsonl'), record)
  await using killed = await openWorkspace()
  const checkpoint = await killHalfWay(origin.url, killed, 'ignores')
  assert.ok(checkpoint.number >= 4 && checkpoint.number < 10 && checkpoint.ignores > 0, `it came to ${checkpoint.number}`)
  assert.deepEqual((await importing(origin, killed)).notes, notes)
  assert.equal(await refsOf(killed), await refsOf(workspace))
})
