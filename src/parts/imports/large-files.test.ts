import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { applyRunEvent, leadTo, openEmpty, path, present, start } from '#test/imports/import-states.ts'

const large_files = [{ ref_name: 'refs/heads/main', path: 'film.mov', oid: 'a'.repeat(40), size: 104_857_601 }]

test('an import with large files waits for a choice and resumes with it', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const findChoice = (use_lfs: unknown) => ada.patch(`${path}/lfs`, { use_lfs })
  await expect(404, await findChoice('opt_in'))
  await expect(404, await ada.get(`${path}/large_files`))
  await start(ada, { vcs: 'git' })
  assert.deepEqual(await ada.read(`${path}/large_files`), [])
  for (const wrong of ['undecided', '', 'OPT_IN', null, true, ['opt_in']]) await expect(422, await findChoice(wrong))
  await expect(422, await ada.patch(`${path}/lfs`, {}))
  await applyRunEvent(forge, 'imported', { commit_count: 1, large_files })
  assert.doesNotMatch((await ada.read(path)).status_text, /opt_in/)
  await applyRunEvent(forge, 'waits', { large_files })
  const page = await ada.get(`${path}/large_files?per_page=1&page=2`)
  assert.match(page.headers.get('link') ?? '', /page=1>; rel="prev"/)
  assert.deepEqual(await expect(200, page), [])
  const waiting = await ada.read(path)
  assert.partialDeepStrictEqual(waiting, { status: 'mapping', has_large_files: true, large_files_size: 104_857_601 })
  assert.match(waiting.status_text, /opt_in.*opt_out/)
  const { run, active } = await present(forge)
  assert.equal(active, false)
  const chosen = await expect(200, await findChoice('opt_in'))
  assert.partialDeepStrictEqual(chosen, { status: 'mapping', use_lfs: 'opt_in' })
  assert.doesNotMatch(chosen.status_text, /opt_in/)
  assert.partialDeepStrictEqual(await present(forge), { active: true, run: run + 1 })
  await expect(200, await findChoice('opt_out'))
  await expect(200, await findChoice('opt_out'))
  assert.equal((await present(forge)).run, run + 2, 'the same again changes nothing')
  await applyRunEvent(forge, 'mapped', {})
  await expect(200, await findChoice('opt_out'))
  assert.match((await expect(422, await findChoice('opt_in'))).errors[0].message, /too late/)
})

test('a choice made before, or by a setting, is not waited for', async () => {
  await using forge = await openEmpty({ BELFRY_IMPORT_LFS: 'opt_out' })
  assert.equal((await start(forge.ada, { vcs: 'git' })).use_lfs, 'opt_out')
  await expect(200, await forge.ada.patch(`${path}/lfs`, { use_lfs: 'opt_in' }))
  const { run } = await present(forge)
  await leadTo(forge, 'mapping')
  await applyRunEvent(forge, 'waits', { large_files })
  assert.partialDeepStrictEqual(await present(forge), { active: true, run, use_lfs: 'opt_in' })
})
