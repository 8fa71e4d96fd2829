import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { begin, openRuns, refsIn, refsOf, run } from '#test/imports/runs.ts'
import { countSteps, until } from '#test/machine.ts'

test('authors that are corrected after the end are written into the commits, also when a worker fails', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, source, startedSteps, onStepStarted, leftovers } = runs
  let wanted: NodeJS.Signals | undefined
  onStepStarted(({ group }) => {
    if (wanted) process.kill(-group, wanted)
    wanted = undefined
  })
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/source.git` })
  await engine.reaches('complete')
  const target = forge.belfry.storage.pathOf(engine.repo.id)
  const [author] = await ada.read(`${engine.path}/authors`)
  const correct = async (...names: string[]) => {
    for (const name of names) await expect(200, await ada.patch(`${engine.path}/authors/${author.id}`, { name }))
    await until('it is over', async () => !(await forge.belfry.db.first(sql`select from imports where active`)))
  }
  const corrections = () => startedSteps.filter(({ step }) => step === 'correct').length
  await correct('Ada Byron', 'Ada King')
  assert.equal((await ada.read('/repos/ada/engine/commits/main')).commit.author.name, 'Ada King')
  assert.equal(corrections(), 1, 'both at once')
  await correct('ada')
  assert.equal(await refsOf(forge, engine.repo), await refsIn(source.path))

  // A failed correction changes nothing, and the next one repeats it.
  const originals = await git(['-C', target, 'for-each-ref', '--format=update %(refname) %(objectname)', 'refs/import/orig'])
  await git(['-C', target, 'update-ref', '--stdin'], { input: originals.replace(/update (\S+) \S+/g, 'delete $1') })
  const before = await refsOf(forge, engine.repo)
  await correct('Ada Lovelace')
  assert.equal(await refsOf(forge, engine.repo), before)
  assert.match((await ada.read(`${engine.path}/report`)).correction_error, /Some of the original commits are gone/)

  await git(['-C', target, 'update-ref', '--stdin'], { input: originals })
  wanted = 'SIGKILL'
  await correct('Ada Lovelace')
  assert.equal(corrections(), 5)
  assert.match(await git(['-C', target, 'log', '--format=%an', '--branches']), /Ada Lovelace/)
  assert.equal((await ada.read(`${engine.path}/report`)).correction_error, null)

  const corrected = await refsOf(forge, engine.repo)
  wanted = 'SIGSTOP'
  await expect(200, await ada.patch(`${engine.path}/authors/${author.id}`, { name: 'Ada' }))
  await until('it has started', () => !wanted)
  await expect(204, await ada.delete(engine.path))
  // The runner polls every 500 ms.
  using polls = countSteps(500)
  await until('nothing is left', async () => (await leftovers()).length === 0)
  assert.ok(polls.steps <= 4, 'deleting the import ends its correction')
  assert.equal(await refsOf(forge, engine.repo), corrected)
})
