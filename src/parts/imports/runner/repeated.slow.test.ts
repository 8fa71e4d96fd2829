import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { until } from '#test/machine.ts'

test('a complete import that restarts brings only what is new, until the first push', async () => {
  await using source = await openSvnFolder()
  const path = join(source.path, 'mill')
  await makeSvnRepository(path, ({ folder, add, commit }) => {
    folder('trunk')
    add('trunk/a.txt', 'one\n')
    commit('Begin')
  })
  await using server = await startSvnserve(source.path)
  await using runs = await openRuns({ BELFRY_IMPORT_KEEP: '1' })
  const { forge, ada, root } = runs
  await using _ = run(forge)
  const imported = await begin(ada, 'mill', { vcs: 'subversion', vcs_url: `${server.url}mill` })
  await imported.reaches('complete')
  const [author] = await ada.read(`${imported.path}/authors`)
  await expect(200, await ada.patch(author.url, { name: 'Ada Lovelace', email: 'ada@example.com' }))
  const log = () => git(['-C', forge.belfry.storage.pathOf(imported.repo.id), 'log', '--format=%an: %s', 'main'])
  await until('the author is corrected', async () => (await log()) === 'Ada Lovelace: Begin\n')
  const isIdle = async () => (await forge.belfry.db.rows(sql`select from imports where active or correcting`)).length === 0
  await until('the correction is recorded', isIdle)
  const [folder = ''] = await readdir(root)
  const plan = join(root, folder, 'stage.git', 'HEAD')
  const { ino } = await stat(plan)

  execFileSync('svn', ['mkdir', '--quiet', '--message', 'More', '--username', 'grace', `file://${path}/trunk/more`])
  await expect(200, await ada.patch(imported.path, {}))
  await imported.reaches('complete')
  assert.equal(await log(), 'grace: More\nAda Lovelace: Begin\n')
  assert.equal((await stat(plan)).ino, ino, 'it did not start over')
  assert.deepEqual((await ada.read(`${imported.path}/report`)).mismatches, [])

  await expect(204, await ada.delete(imported.path))
  await until('the folder is gone', async () => (await readdir(root)).length === 0)
})
