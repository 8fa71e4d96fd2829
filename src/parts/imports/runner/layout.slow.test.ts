import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'

test('the layout of a Subversion import can be chosen and corrected, and what is left out is named', async () => {
  await using runs = await openRuns()
  const { forge, ada } = runs
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'mill'), ({ folder: make, add, change, copy, remove, commit, head }) => {
    for (const path of ['main', 'users', 'users/ann']) make(path)
    add('main/a.txt', 'a\n')
    commit('Begin')
    for (const name of ['one', 'two']) copy('main', head(), `users/ann/${name}`)
    commit('Branches')
    change('users/ann/two/a.txt', 'b\n')
    commit('Work')
    remove('users/ann/two')
    commit('Clean up')
  })
  await using server = await startSvnserve(folder.path)
  await using _ = run(forge)
  const vcs_url = `${server.url}mill`
  const svn_layout = { trunk: 'main', branches: ['users/*/*'], tags: [] }
  await ada.owns('refused')
  for (const wrong of [{ ...svn_layout, trunk: '*' }, { ...svn_layout, tags: ['/'] }, { trunk: 'main' }, 'main'])
    await expect(422, await ada.put('/repos/ada/refused/import', { vcs_url, svn_layout: wrong }))

  const { path, reaches } = await begin(ada, 'mill', { vcs_url, svn_layout })
  const branches = async () => (await ada.read('/repos/ada/mill/branches')).map(({ name }: { name: string }) => name)
  const first = await reaches('complete')
  assert.deepEqual([first.svn_layout, first.left_out_count], [svn_layout, 1])
  assert.deepEqual(await branches(), ['ann/one', 'main'])
  const left = { path: 'users/ann/two', first_revision: 3, last_revision: 3, count: 1, reason: 'deleted' }
  const report = await ada.read(`${path}/report`)
  assert.deepEqual([report.left_out, report.mismatches], [[left], []])

  await expect(200, await ada.patch(path, { keep_deleted: true }))
  assert.equal((await reaches('complete')).keep_deleted, true)
  assert.deepEqual((await ada.read(`${path}/report`)).left_out, [])
  const tags = await ada.read('/repos/ada/mill/tags')
  assert.deepEqual(
    tags.map(({ name }: { name: string }) => name),
    ['deleted/ann/two@3'],
  )

  await expect(200, await ada.patch(path, { svn_layout: null }))
  assert.equal((await reaches('complete')).svn_layout, undefined)
  assert.deepEqual(await branches(), ['main'])
  assert.deepEqual((await ada.read(`${path}/report`)).mismatches, [])
})
