import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { begin, openRuns, refsOf, run } from '#test/imports/runs.ts'
import { countSteps, until } from '#test/machine.ts'

test('a correction that cannot be made leaves all as it is, is made when it can be, and survives its worker', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, begun, onBegun, leftovers } = runs
  let wanted: NodeJS.Signals | undefined
  onBegun(({ group }) => {
    if (wanted) process.kill(-group, wanted)
    wanted = undefined
  })
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/source.git` })
  await engine.reaches('complete')
  const target = forge.belfry.storage.pathOf(engine.repo.id)
  const [author] = await ada.read(`${engine.path}/authors`)
  const correct = async (name: string) => {
    await expect(200, await ada.patch(`${engine.path}/authors/${author.id}`, { name }))
    await until('it is over', async () => !(await forge.belfry.db.first(sql`select from imports where active`)))
  }
  const originals = await git(['-C', target, 'for-each-ref', '--format=update %(refname) %(objectname)', 'refs/import/orig'])
  await git(['-C', target, 'update-ref', '--stdin'], { input: originals.replace(/update (\S+) \S+/g, 'delete $1') })
  const before = await refsOf(forge, engine.repo)
  await correct('Ada Lovelace')
  assert.equal(await refsOf(forge, engine.repo), before)
  assert.match((await ada.read(`${engine.path}/report`)).correction_error, /are not all there any more/)

  await git(['-C', target, 'update-ref', '--stdin'], { input: originals })
  wanted = 'SIGKILL'
  await correct('Ada Lovelace')
  assert.equal(begun.filter(({ step }) => step === 'correct').length, 3)
  assert.match(await git(['-C', target, 'log', '--format=%an', '--branches']), /Ada Lovelace/)
  assert.equal((await ada.read(`${engine.path}/report`)).correction_error, null)

  const corrected = await refsOf(forge, engine.repo)
  wanted = 'SIGSTOP'
  await expect(200, await ada.patch(`${engine.path}/authors/${author.id}`, { name: 'Ada' }))
  await until('it is begun', () => !wanted)
  await expect(204, await ada.delete(engine.path))
  // The runner looks every 500 ms.
  using looks = countSteps(500)
  await until('nothing is left', async () => (await leftovers()).length === 0)
  assert.ok(looks.steps <= 4, 'deleting the import ends its correction')
  assert.equal(await refsOf(forge, engine.repo), corrected)
})
