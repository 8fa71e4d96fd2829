import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { expect } from '#test/forge.ts'
import { startGitServer } from '#test/imports/git-server.ts'
import { makeHgRepository } from '#test/imports/hg.ts'
import { describeFeatures } from '#test/imports/hg-repository.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellCorners } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { freePort, until } from '#test/machine.ts'
import { tellStory } from '#test/tfvc/example-history.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'

test('every kind of source is detected, imported, and equal to its source', async () => {
  await using runs = await openRuns()
  const { forge, ada, leftovers } = runs
  await using undo = new AsyncDisposableStack()
  const shelf = undo.use(await openSvnFolder())
  await makeSvnRepository(join(shelf.path, 'repo'), (history) => tellCorners(history))
  const folder = await mkdtemp(join(tmpdir(), 'belfry-kinds-'))
  undo.defer(() => rm(folder, { recursive: true }))
  const features = describeFeatures()
  const svn = undo.use(await startSvnserve(shelf.path))
  const hg = undo.use(await startHgServer(await makeHgRepository(folder, features.bytes(), features.bookmarks)))
  const tfvc = undo.use(await startTfvcServer(tellStory()))
  await using _ = run(forge)
  const sources = { subversion: `${svn.url}repo`, mercurial: hg.url, tfvc: tfvc.url }
  const startedSteps = await Promise.all(Object.entries(sources).map(([name, vcs_url]) => begin(ada, name, { vcs_url })))

  const several = startedSteps[2]
  const { project_choices } = (await several?.reaches('detection_found_multiple')) ?? {}
  assert.ok(project_choices.length > 1 && project_choices.every(({ vcs }: { vcs: string }) => vcs === 'tfvc'))
  await expect(200, await ada.patch(several?.path ?? '', project_choices[0]))

  for (const { path, repo, reaches } of startedSteps) {
    const { vcs, authors_count } = await reaches('complete')
    assert.equal(vcs, repo.name)
    assert.ok(authors_count > 1)
    const { verified, mismatches, commit_count } = await ada.read(`${path}/report`)
    assert.ok(verified.branches > 0 && verified.files > 0 && commit_count > 1, vcs)
    assert.deepEqual(mismatches, [])
    await git(['-C', forge.belfry.storage.pathOf(repo.id), 'fsck', '--strict', '--full'])
  }
  await until('nothing is left', async () => (await leftovers()).length === 0)

  // Subversion is installed, but not in the PATH of the worker.
  const { PATH } = process.env
  undo.defer(() => void Object.assign(process.env, { PATH }))
  await symlink(execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(folder, 'git'))
  process.env.PATH = folder
  const lacking = await begin(ada, 'lacking', { vcs_url: `${svn.url}repo`, vcs: 'subversion' })
  const { failed_step, message } = await lacking.reaches('error')
  assert.equal(failed_step, 'importing')
  assert.match(message, /install the package "subversion"/)
})

test('an unreachable source or a missing repository of the named kind fails, and an unknown answer is detection_found_nothing', async () => {
  await using runs = await openRuns()
  const { forge, ada } = runs
  await using page = await startGitServer()
  await using _ = run(forge)
  const closed = `127.0.0.1:${await freePort()}`
  const [away, named, unlike, other] = await Promise.all([
    begin(ada, 'away', { vcs_url: `http://${closed}/engine.git` }),
    begin(ada, 'named', { vcs_url: `http://${closed}/engine.git`, vcs: 'git' }),
    begin(ada, 'unlike', { vcs_url: `${page.url}/app/engine`, vcs: 'mercurial' }),
    begin(ada, 'other', { vcs_url: `${page.url}/app/engine` }),
  ])
  const refused = `Nothing listens at ${closed}: the connection was refused.`
  const failed = await away.reaches('error')
  assert.partialDeepStrictEqual(failed, { failed_step: 'detecting', message: refused })
  assert.match(failed.status_text, /Fix the problem described in message/)
  assert.partialDeepStrictEqual(await named.reaches('error'), { failed_step: 'importing', message: refused })
  const { failed_step, message } = await unlike.reaches('error')
  assert.equal(failed_step, 'importing')
  assert.match(message, /^There is no mercurial repository at this address\. Check vcs_url/)
  const found = await other.reaches('detection_found_nothing')
  assert.deepEqual([found.message, found.failed_step], [undefined, undefined])
  assert.match(found.status_text, /^No repository that can be imported was found/)
})
