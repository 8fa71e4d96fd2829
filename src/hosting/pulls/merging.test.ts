import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginPush, settlePushes } from '#hosting/pushes/pushes.ts'
import { sql } from '#platform/database.ts'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { assertSettled } from '#test/git.ts'
import { openWithTopic, pullEvents } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const merging = `${engine}/pulls/1/merge`

test('a merge creates a commit with both parents, by the user who merges', inject(async ({ forge, ben, work, main, topic }) => {
  await forge.propose()
  const { sha, merged } = await expect(200, await ben.put(merging))
  assert.equal(merged, true)
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('rev-parse', 'origin/main'), sha)
  assert.equal(
    await work.git('log', '-1', '--format=%P|%an|%cn|%B', sha),
    `${main} ${topic}|ben|ben|Merge pull request #1 from ada/topic\n\nNotes`,
  )
  assert.equal(await work.git('show', `${sha}:notes.txt`), 'A note.')
  const pull = await ben.read(`${engine}/pulls/1`)
  assert.partialDeepStrictEqual(pull, {
    state: 'closed',
    merged: true,
    merge_commit_sha: sha,
    merged_by: { login: 'ben' },
    merged_at: '2026-02-03T04:05:06Z',
    mergeable: null,
    mergeable_state: 'unknown',
  })
  assert.equal((await ben.read(`${engine}/issues/1`)).closed_by.login, 'ben')
  const [closed, pushed] = await ben.read(`${engine}/events`)
  assert.deepEqual([closed.type, pushed.type, pushed.payload.head], ['PullRequestEvent', 'PushEvent', sha])
  await assertSettled(forge, forge.id)
}))

test('a squash creates one commit of the author, a rebase repeats each commit', inject(async (forge) => {
  const { ada, ben, work, main, topic } = forge
  await work.git('checkout', '--quiet', '-b', 'long', 'main')
  await work.commit('First\n\nWith reasons.', { 'a.txt': 'a\n' })
  await work.commit('Second', { 'b.txt': 'b\n' })
  await work.push('long')
  await forge.propose()
  await forge.propose({ title: 'Both', head: 'long' })
  const one = await expect(200, await ben.put(merging, { merge_method: 'squash' }))
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('log', '-1', '--format=%P|%an|%cn|%B', one.sha), `${main}|ada|ben|Add notes (#1)`)
  await expect(200, await ada.patch(engine, { allow_merge_commit: false }))
  await expect(405, await ben.put(`${engine}/pulls/2/merge`))
  const two = await expect(200, await ben.put(`${engine}/pulls/2/merge`, { merge_method: 'rebase' }))
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('log', '--format=%s|%an|%cn', `${one.sha}..${two.sha}`), 'Second|ada|ben\nFirst|ada|ben')
  assert.equal(await work.git('rev-list', '--count', '--merges', two.sha), '0')
  assert.equal(await work.git('rev-parse', `${two.sha}~2`), one.sha)
  assert.notEqual(one.sha, topic)
  assert.deepEqual(await pullEvents(forge), ['ada opened 1', 'ada opened 2', 'ben closed merged 1', 'ben closed merged 2'])
  await assertSettled(forge, forge.id)
}))

test('a merge uses the given title and message; a squash lists its commits', inject(async ({ ada, work, propose }) => {
  await work.commit('More notes', { 'more.txt': 'More.\n' })
  await work.push('topic')
  await propose()
  const { sha } = await expect(200, await ada.put(merging, { merge_method: 'squash' }))
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('log', '-1', '--format=%B', sha), 'Notes (#1)\n\n* Add notes\n\n* More notes')
  await work.git('checkout', '--quiet', '-b', 'next', 'origin/main')
  await work.commit('Next', { 'next.txt': 'Next.\n' })
  await work.push('next')
  await propose({ head: 'next' })
  const asked = { commit_title: 'Come in', commit_message: 'Why not.', merge_method: 'squash' }
  const second = await expect(200, await ada.put(`${engine}/pulls/2/merge`, asked))
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('log', '-1', '--format=%B', second.sha), 'Come in\n\nWhy not.')
}))

test('an unmergeable pull request is refused with 405, a moved head with 409', inject(async (forge) => {
  const { ada, cy, dan, nobody, work, main, topic } = forge
  await forge.propose({ draft: true })
  const refused = async (status: number, body: object, message: string) =>
    assert.equal((await expect(status, await ada.put(merging, { ...body }))).message, message)
  await refused(405, {}, 'Pull Request is still a draft')
  await expect(200, await ada.patch(`${engine}/pulls/1`, { draft: false }))
  for (const who of [cy, dan]) await expect(403, await who.put(merging))
  await expect(401, await nobody.put(merging))
  await refused(409, { sha: main }, 'Head branch was modified. Review and try the merge again.')
  await expect(422, await ada.put(merging, { merge_method: 'octopus' }))
  await expect(404, await ada.put(`${engine}/pulls/2/merge`))
  await expect(200, await ada.patch(`${engine}/pulls/1`, { state: 'closed' }))
  await refused(405, {}, 'Pull Request is not mergeable')
  await expect(200, await ada.patch(`${engine}/pulls/1`, { state: 'open' }))
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Other notes', { 'notes.txt': 'Another.\n' })
  await work.push('main')
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/1`), { mergeable: false, mergeable_state: 'dirty' })
  for (const merge_method of ['merge', 'squash', 'rebase']) await refused(405, { merge_method }, 'Pull Request is not mergeable')
  await work.git('checkout', '--quiet', 'topic')
  await work.git('reset', '--quiet', '--hard', 'main')
  await work.commit('Agreed', { 'notes.txt': 'Both.\n' })
  await work.push('--force', 'topic')
  await refused(409, {}, 'Head branch was modified. Review and try the merge again.')
  await forge.follow()
  await refused(409, { sha: topic }, 'Head branch was modified. Review and try the merge again.')
  await expect(200, await ada.put(merging))
  await refused(405, {}, 'Pull Request is not mergeable')
  await expect(422, await ada.patch(`${engine}/pulls/1`, { state: 'open' }))
  await expect(422, await ada.patch(`${engine}/issues/1`, { state: 'open' }))
  await expect(200, await ada.patch(engine, { archived: true }))
  await expect(403, await ada.put(merging))
}))

test('a server that stops between the push and the record of a merge records it after the restart', inject(async (forge) => {
  const { ada, ben, work, main, id } = forge
  const { db, storage } = forge.belfry
  await forge.propose()
  await work.git('checkout', '--quiet', '-b', 'squashed', 'main')
  const sha = await work.commit('Notes (#1)', { 'notes.txt': 'A note.\n' })
  await work.push('squashed')
  const [{ id: pull_id }] = (await ada.read(`${engine}/pulls`)) as [{ id: number }]
  const [{ id: ben_id }] = (await db.rows(sql`select id from accounts where login = 'ben'`)) as [{ id: number }]
  const command = { ref: 'refs/heads/main', before: main, after: sha, merges: pull_id }
  await beginPush(db, { id }, { id: ben_id }, [command])
  await storage.moveRefs(id, [command])
  assert.equal((await ada.read(`${engine}/pulls/1`)).merged, false)
  await settlePushes(db, storage, id)
  await settlePushes(db, storage, id)
  assert.partialDeepStrictEqual(await ben.read(`${engine}/pulls/1`), {
    merged: true,
    merge_commit_sha: sha,
    merged_by: { login: 'ben' },
  })
  assert.deepEqual(await pullEvents(forge), ['ada opened 1', 'ben closed merged 1'])
}))
