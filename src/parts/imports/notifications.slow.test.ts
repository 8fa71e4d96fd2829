import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { startGitServer } from '#test/imports/git-server.ts'
import { begin, run } from '#test/imports/runs.ts'
import { inboxOf, told } from '#test/inbox.ts'

test('watchers are notified once that a repository was imported', async () => {
  await using server = await startGitServer()
  const { work } = await server.make('source')
  await work.commit('One')
  await work.push('main')
  await using forge = await openForge({ worker: true, settings: { BELFRY_IMPORT_ADDRESSES: 'loopback' } })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const vcs_url = `${server.url}/open/source.git`
  const { path, reaches } = await begin(ada, 'engine', { vcs_url })
  await expect(200, await ben.put('/repos/ada/engine/subscription', { subscribed: true }))
  await using _ = run(forge)
  await reaches('complete')
  await told(forge)

  const [{ subject, reason, repository }, ...more] = await ben.read('/notifications')
  const url = `${forge.web}/api/v3/repos/ada/engine`
  assert.deepEqual(subject, {
    ...{ title: `Imported from ${vcs_url}`, type: 'RepositoryImport', state: null },
    ...{ url, latest_comment_url: url, html_url: `${forge.web}/ada/engine` },
  })
  assert.deepEqual([reason, repository.full_name, more], ['subscribed', 'ada/engine', []])
  assert.deepEqual(await inboxOf(ada), [], 'the requester is not notified')

  const guest = await signedIn(forge, 'ben')
  assert.match((await guest.get('/notifications?q=is:import')).text, />Imported from http:/)
  await guest.get('/ada/engine')
  assert.deepEqual(await inboxOf(ben), [], 'opening the repository marks the thread as read')
  // Importing again notifies nobody.
  await expect(200, await ada.patch(path, {}))
  await reaches('complete')
  await told(forge)
  assert.deepEqual(await inboxOf(ben), [])
  await expect(204, await ada.delete(path))
  assert.deepEqual(await inboxOf(ben, '?all=true'), [], 'what is gone is shown to nobody')
})
