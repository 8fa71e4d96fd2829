import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { repositoriesOfProjects } from '#test/conversions/odd-repositories.ts'
import { beyondCheckpoint, convert, openConversions, refsIn, startConvert } from '#test/imports/convert-command.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellLong } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { until } from '#test/machine.ts'

const commit = (path: string, ...args: string[]) =>
  execFileSync(
    'svn',
    [...args, '-q', '-m', 'More', '--username', 'joan'].map((arg) => arg.replace('^', `file://${path}`)),
  )

const repositoriesIn = async (folder: string) => (await readdir(folder)).filter((name) => name.endsWith('.git')).toSorted()

interface Project {
  name: string
  gone?: true
  refs: Record<string, string>
  left_out: { path: string }[]
  moved: { created: string[]; updated: string[]; removed: string[]; commits: number; rewritten: boolean }
  verification: { mismatches: unknown[] }
}

const byName = (output: string) => {
  const { projects }: { projects: Project[] } = JSON.parse(output)
  return Object.fromEntries(projects.map((project) => [project.name, project]))
}

test('projects in folders become a repository each, and later runs bring what is new to each', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'all')
  await makeSvnRepository(path, repositoriesOfProjects['projects in folders'] ?? assert.fail())
  await using server = await startSvnserve(source.path)
  const [url, out] = [`${server.url}all`, work.out('all')]
  assert.match((await convert(url, out)).messages, /Several projects .* with --projects, or choose one of them with --project: /)
  const preview = await convert(url, out, '--projects', '--dry-run')
  assert.match(
    preview.output,
    /9 revisions, 4 repositories\. Nothing was converted\.\none\.git: one, \d+ revisions\n {2}branch {2}main/,
  )
  assert.match(preview.output, /\nunassigned\.git: what belongs to no project, \d+ revisions\n {2}branch {2}main +\/\n/)
  assert.match(preview.output, /\n {2}one\/branches\/lost {2}\(/)
  assert.deepEqual(await repositoriesIn(out), [])

  const first = await convert(url, out, '--projects', '--verify', 'full', '--json')
  assert.equal(first.code, 0, first.messages)
  assert.match(first.messages, /No branch and no tag contains:\n.* {2}one\/branches\/lost /s)
  const projects = byName(first.output)
  assert.deepEqual(Object.keys(projects), ['one', 'three', 'libs-two', 'unassigned'])
  for (const { verification } of Object.values(projects)) assert.deepEqual(verification.mismatches, [])
  assert.deepEqual(
    projects.one?.left_out.map((left) => left.path),
    ['one/branches/lost', 'one/trunk/.git/config'],
  )
  assert.deepEqual(await repositoriesIn(out), ['libs-two.git', 'one.git', 'three.git', 'unassigned.git'])
  assert.equal(await git(['-C', join(out, 'unassigned.git'), 'show', 'main:readme.txt']), 'about both\n')
  assert.match(await refsIn(join(out, 'libs-two.git')), /^refs\/heads\/from-one .*\nrefs\/heads\/main .*\nrefs\/tags\/v1 /)
  // A project that is converted alone has the same commits.
  assert.equal((await convert(url, work.out('one.git'), '--project', 'one')).code, 0)
  assert.equal(await refsIn(work.out('one.git')), await refsIn(join(out, 'one.git')))

  // The options are remembered.
  const again = await convert(url, out)
  assert.equal(again.code, 0, again.messages)
  assert.equal(again.output.match(/Commits +nothing new/g)?.length, 4)
  assert.match(again.output, /into 4 repositories in .*\nNone of them differs from the source\.$/s)

  commit(path, 'copy', '^/one/trunk', '^/one/branches/late')
  commit(path, 'mkdir', '^/one/branches/late/more', '^/four', '^/four/trunk')
  commit(path, 'delete', '^/three')
  const later = await convert(url, out, '--json')
  assert.equal(later.code, 0, later.messages)
  const moved = Object.entries(byName(later.output)).map(([name, { moved, gone }]) => [
    name,
    gone ?? [moved.created, moved.updated, moved.removed, moved.commits, moved.rewritten],
  ])
  assert.deepEqual(Object.fromEntries(moved), {
    one: [['refs/heads/late'], [], [], 1, false],
    four: [[], [], [], 0, false],
    three: true,
    'libs-two': [[], [], [], 0, false],
    unassigned: [[], [], [], 0, false],
  })
  assert.equal(await git(['-C', join(out, 'three.git'), 'show', 'main:x.txt']), 'y\n', 'a project that is gone stays')

  await git(['-C', join(out, 'one.git'), 'update-ref', 'refs/heads/late', 'refs/heads/main'])
  assert.match((await convert(url, out)).messages, /one\.git have moved since the last conversion: refs\/heads\/late\./)
  const late = byName(later.output).one?.refs['refs/heads/late'] ?? ''
  await git(['-C', join(out, 'one.git'), 'update-ref', 'refs/heads/late', late])
  assert.equal((await convert(url, out, '--final')).code, 0)
  for (const folder of ['.', 'one.git', 'unassigned.git']) assert.ok(!existsSync(join(out, folder, 'belfry-convert')))
})

test('folders of one trunk become a repository each, found or by a layout, also from a dump', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'all')
  await makeSvnRepository(path, (history) => {
    repositoriesOfProjects['projects in the trunk']?.(history)
    history.remove('trunk/Makefile')
    history.commit('Only folders')
  })
  const dry = await convert(path, work.out('x.git'), '--dry-run')
  assert.match(
    dry.output,
    /The trunk has folders and no files: one, two, three\. If they are separate projects, --projects makes/,
  )
  const found = await convert(path, work.out('found'), '--projects', '--json')
  assert.equal(found.code, 0, found.messages)
  assert.deepEqual(await repositoriesIn(work.out('found')), ['one.git', 'three.git', 'two.git', 'unassigned.git'])
  assert.match(await refsIn(work.out('found/two.git')), /^refs\/heads\/main .*\nrefs\/heads\/y .*\nrefs\/tags\/v1 /)
  const log = await git(['-C', work.out('found/one.git'), 'log', '--format=%s %p', 'main'])
  assert.match(log, /^A merge \w+ \w+$/m)
  const history = await git(['-C', work.out('found/three.git'), 'log', '--format=%s', 'main'])
  assert.equal(history, 'A project is split off\nBegin\n')
  assert.match(
    await git(['-C', work.out('found/unassigned.git'), 'ls-tree', '-r', '--name-only', 'main']),
    /^branches\/loose\/a\.txt$/m,
  )

  await writeFile(work.out('all.dump'), execFileSync('svnadmin', ['dump', '--quiet', path], { maxBuffer: 1 << 26 }))
  const layout = ['trunk=trunk', 'branches=branches/*', 'tags=tags/*'].flatMap((folder) => ['--layout', `${folder}/{project}`])
  const chosen = await convert(work.out('all.dump'), work.out('chosen'), '--projects', ...layout)
  assert.equal(chosen.code, 0, chosen.messages)
  for (const name of await repositoriesIn(work.out('found')))
    assert.equal(await refsIn(work.out(`chosen/${name}`)), await refsIn(work.out(`found/${name}`)), name)

  const wrong = await convert(path, work.out('wrong'), '--projects', '--layout', 'trunk=trunk')
  assert.match(wrong.messages, /each folder of --layout has the name \{project\} once/)
  assert.match(
    (await convert(path, work.out('found/one.git'), '--projects')).messages,
    /one\.git is a git repository, but --projects needs a folder/,
  )
})

test('plain folders can be projects, and a killed conversion of them resumes', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'long')
  await makeSvnRepository(path, (history) => tellLong(history, beyondCheckpoint, { files: 6, lines: 3 }))
  await using server = await startSvnserve(source.path)
  const options = ['--projects', '--layout', 'trunk={project}']
  const given = [`${server.url}long`, work.out('killed'), ...options]
  const first = startConvert(given)
  await until('there is a checkpoint', () => existsSync(work.out('killed/belfry-convert/reached.json')))
  first.child.kill('SIGKILL')
  await first.ended
  assert.equal((await convert(...given)).code, 0)
  assert.equal((await convert(path, work.out('whole'), ...options)).code, 0)
  const names = await repositoriesIn(work.out('whole'))
  assert.deepEqual(names, ['branches.git', 'tags.git', 'trunk.git'])
  for (const name of names) assert.equal(await refsIn(work.out(`killed/${name}`)), await refsIn(work.out(`whole/${name}`)), name)
})

test('a repository that would be empty is not counted, and the authors of all projects are listed', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'both')
  await makeSvnRepository(path, ({ folder, add, commit }) => {
    for (const project of ['one', 'two']) {
      for (const name of [project, `${project}/trunk`, `${project}/branches`, `${project}/tags`]) folder(name)
      add(`${project}/trunk/a.txt`, `${project}\n`)
      commit(project, project === 'one' ? 'ada' : 'grace')
    }
  })
  await using server = await startSvnserve(source.path)
  const url = `${server.url}both`
  const preview = await convert(url, work.out('both'), '--projects', '--dry-run')
  assert.match(preview.output, /2 revisions, 2 repositories\. Nothing was converted\./)
  const { parts } = JSON.parse((await convert(url, work.out('both'), '--projects', '--dry-run', '--json')).output)
  assert.deepEqual(
    parts.map(({ name, empty = false }: { name: string; empty?: boolean }) => [name, empty]),
    [
      ['one', false],
      ['two', false],
      ['unassigned', true],
    ],
  )
  for (const args of [[], ['--projects']]) {
    const { code, output } = await convert(url, '--authors-missing', ...args)
    assert.deepEqual([code, output.split('\n').map((line) => line.split(' = ')[0])], [1, ['ada', 'grace']])
  }
  assert.match((await convert(url, '--authors-missing', '--project', 'two')).output, /^grace = /)
})
