import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { openForge } from '#test/forge.ts'
import { begin, run } from '#test/imports/runs.ts'
import { historyIn, recordedHistory } from '#test/recordings/history.ts'
import { replay } from '#test/recordings/replay.ts'

test('recorded Mercurial and TFVC repositories are detected, imported, and equal to their sources', async () => {
  await using forge = await openForge({ settings: { BELFRY_IMPORT_ADDRESSES: 'loopback', BELFRY_IMPORT_KEEP: '0' } })
  const ada = await forge.person('ada')
  await using hg = await replay('mercurial.jsonl')
  await using tfvc = await replay('tfvc.jsonl')
  await using _ = run(forge)
  const sources = { mercurial: hg.url, tfvc: `${tfvc.url}/tfs/DefaultCollection` }
  const imports = await Promise.all(Object.entries(sources).map(([kind, vcs_url]) => begin(ada, kind, { vcs_url })))
  for (const { path, repo, reaches } of imports) {
    const { vcs } = await reaches('complete')
    assert.equal(vcs, repo.name)
    const { verified, mismatches } = await ada.read(`${path}/report`)
    assert.ok(verified.branches > 1 && verified.files > 10, vcs)
    assert.deepEqual(mismatches, [])
    const stored = forge.belfry.storage.pathOf(repo.id)
    assert.deepEqual(await historyIn(stored), recordedHistory(vcs))
    await git(['-C', stored, 'fsck', '--strict', '--full'])
  }
})
