import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadImport } from '#parts/imports/import-store.ts'
import { expect } from '#test/forge.ts'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { ignoreFiles, tellIgnores } from '#test/imports/svn-ignore-history.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { originOf } from './ledger.ts'

const turned = 'ignore lists turned into .gitignore'

test('ignore lists are converted if requested, until the option changes', async () => {
  await using runs = await openRuns()
  const { forge, ada } = runs
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'mill'), tellIgnores)
  await using server = await startSvnserve(folder.path)
  await using _ = run(forge)
  const vcs_url = `${server.url}mill`
  await ada.owns('refused')
  const { message } = await expect(422, await ada.put('/repos/ada/refused/import', { vcs_url, svn_ignore: 'yes' }))
  assert.equal(message, 'Invalid request.\n\nFor \'properties/svn_ignore\', "yes" is not a boolean.')

  const { path, repo, reaches } = await begin(ada, 'mill', { vcs_url, svn_ignore: true })
  const file = '/repos/ada/mill/contents/.gitignore'
  const check = async (chosen: boolean) => {
    assert.equal((await reaches('complete')).svn_ignore, chosen ? true : undefined)
    const { notes, mismatches } = await ada.read(`${path}/report`)
    assert.deepEqual(mismatches, [])
    assert.equal(notes[turned], chosen ? 8 : undefined)
    if (!chosen) return void (await expect(404, await ada.get(file)))
    const { content } = await ada.read(file)
    assert.equal(Buffer.from(content, 'base64').toString(), ignoreFiles['heads/main']?.['.gitignore'])
  }
  await check(true)
  const before = await loadImport(forge.belfry.db, repo)
  for (const [change, chosen] of [
    [{}, true],
    [{ svn_ignore: false }, false],
    [{}, false],
    [{ svn_ignore: true }, true],
  ] as const) {
    assert.equal((await expect(200, await ada.patch(path, change))).svn_ignore, chosen ? true : undefined)
    // The folder of one option cannot be reused for the other.
    assert.equal(originOf(await loadImport(forge.belfry.db, repo)) === originOf(before), chosen)
    await check(chosen)
  }
})
