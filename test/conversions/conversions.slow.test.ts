import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { makeHgRepository } from '#test/imports/hg.ts'
import { describeFeatures } from '#test/imports/hg-repository.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellCorners, tellMoves } from '#test/imports/svn-repository.ts'
import { openSvnFolder } from '#test/imports/svn-servers.ts'
import { oddRepositories, repositoriesOfProjects } from './odd-repositories.ts'
import { checkConversions, findConversions, type Outcome } from './oracle.ts'

const run = promisify(execFile)

async function check(folder: string, projects = false): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for await (const outcome of checkConversions(await findConversions(folder), { revisions: 12, projects })) outcomes.push(outcome)
  return outcomes
}

test('generated repositories with every oddity are equal to their sources, or the difference is named', async () => {
  await using folder = await openSvnFolder()
  for (const [name, write] of Object.entries({ ...oddRepositories, corners: tellCorners, moves: tellMoves }))
    await makeSvnRepository(join(folder.path, name), write)
  // One of them as a dump.
  const { stdout } = await run('svnadmin', ['dump', '--quiet', join(folder.path, 'plain folders')], { encoding: 'buffer' })
  await writeFile(join(folder.path, 'plain.dump'), stdout)
  await mkdir(join(folder.path, 'hg'))
  const features = describeFeatures()
  await makeHgRepository(join(folder.path, 'hg'), features.bytes(), features.bookmarks)
  await writeFile(join(folder.path, 'notes.txt'), 'not a repository')

  const outcomes = [...(await check(folder.path)), ...(await check(join(folder.path, 'hg')))]
  for (const { name, differences } of outcomes) assert.deepEqual(differences, [], name)
  const projects: Record<string, string[]> = {
    moves: ['moves engine'],
    'two projects': ['one.git', 'two.git', 'unassigned.git']
      .map((name) => `two projects (${name})`)
      .concat('two projects one', 'two projects two'),
  }
  const names = [...Object.keys(oddRepositories), 'corners', 'moves', 'plain.dump'].toSorted()
  assert.deepEqual(
    outcomes.map(({ name }) => name),
    [...names.flatMap((name) => projects[name] ?? name), 'source'],
  )
  const named = Object.fromEntries(outcomes.map(({ name, left_out }) => [name, left_out.map(({ path }) => path)]))
  assert.deepEqual(named['empty branches'], ['branches/empty'])
  assert.deepEqual(named['replaced branches'], ['branches/x'])
  assert.deepEqual(named['deleted and merged'], ['branches/lost'])
  assert.deepEqual(named.source, ['left'])
})

test('several projects become repositories that are equal to their sources, or the difference is named', async () => {
  await using folder = await openSvnFolder()
  for (const [name, write] of Object.entries(repositoriesOfProjects)) await makeSvnRepository(join(folder.path, name), write)
  const outcomes = await check(folder.path, true)
  for (const { name, differences } of outcomes) assert.deepEqual(differences, [], name)
  const named = Object.fromEntries(outcomes.map(({ name, refs, left_out }) => [name, [refs, left_out.map(({ path }) => path)]]))
  assert.deepEqual(named, {
    'projects in folders (one.git)': [2, ['one/branches/lost', 'one/trunk/.git/config']],
    'projects in folders (three.git)': [1, ['attic']],
    'projects in folders (libs-two.git)': [3, []],
    'projects in folders (unassigned.git)': [1, []],
    'projects in the trunk (one.git)': [2, []],
    'projects in the trunk (two.git)': [3, []],
    'projects in the trunk (three.git)': [1, []],
    'projects in the trunk (unassigned.git)': [1, []],
  })
})

test('npm run conversions prints what differs as JSON and exits with 1', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'mill')
  await makeSvnRepository(path, ({ folder: make, add, commit }) => {
    make('trunk')
    add('trunk/a.txt', 'a\n')
    commit('Begin')
  })
  const { stdout: dump } = await run('svnadmin', ['dump', '--quiet', path], { encoding: 'buffer' })
  await writeFile(join(folder.path, 'cut.dump'), dump.subarray(0, dump.length - 60))
  const program = join(import.meta.dirname, 'conversions.soak.ts')
  const failed = run(process.execPath, [program, folder.path, '--json'])
  const { code, stdout } = await failed.then(
    () => assert.fail('it must exit with 1'),
    (error: { code: number; stdout: string }) => error,
  )
  assert.equal(code, 1)
  const [cut, mill, ...others]: Outcome[] = JSON.parse(stdout)
  assert.match(`${cut?.differences}`, /^the conversion failed: svnadmin cannot load it/)
  assert.deepEqual([mill?.refs, mill?.differences, others], [1, [], []])
})
