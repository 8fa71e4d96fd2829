import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine } from '#test/conversations.ts'
import { expect, type Forge, injecting } from '#test/forge.ts'
import { openWithTopic, pullEvents } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const first = `${engine}/pulls/1`

/** Recorded notification events, oldest first. */
async function notices({ belfry: { db } }: Forge) {
  const rows = await db.rows<{ said: string }>(sql`
    select concat_ws(' ', a.login, n.act) as said
    from notification_events n join accounts a on a.id = n.actor_id join notification_subjects s on s.id = n.subject_id
    where s.type = 'PullRequest' order by n.id`)
  return rows.map(({ said }) => said)
}

test('a pull request follows a push to its branch, and publishes it once', inject(async (forge) => {
  const { ada, ben, work, desk, clock } = forge
  await forge.propose()
  await forge.follow()
  clock.advance(60_000)
  const other = await desk.clone(ben, 'ada/engine', '--branch', 'topic')
  await other.commit('More', { 'more.txt': '1\n2\n' })
  const sha = await other.commit('And more', { 'more.txt': '1\n2\n3\n' })
  await other.push('topic')
  await forge.follow()
  assert.partialDeepStrictEqual(await ada.read(first), {
    head: { sha },
    commits: 3,
    additions: 4,
    changed_files: 2,
    updated_at: '2026-02-03T04:06:06Z',
  })
  await forge.follow()
  assert.deepEqual(await notices(forge), ['ada opened', 'ben pushed'])
  assert.deepEqual(await pullEvents(forge), ['ada opened 1'])
  assert.equal((await work.git('ls-remote', 'origin', 'refs/pull/1/head')).split('\t')[0], sha)
  await other.push('--delete', 'topic')
  await forge.follow()
  assert.partialDeepStrictEqual(await ada.read(first), { head: { sha }, state: 'open', mergeable: true })
  await expect(200, await ada.put(`${first}/merge`))
}))

test('a closed pull request follows its branch only after it is reopened', inject(async ({ forge, ada, work, topic }) => {
  await forge.propose()
  await expect(200, await ada.patch(first, { state: 'closed' }))
  const sha = await work.commit('More', { 'more.txt': '1\n' })
  await work.push('topic')
  await forge.follow()
  assert.equal((await ada.read(first)).head.sha, topic)
  await expect(200, await ada.patch(first, { state: 'open' }))
  await forge.follow()
  assert.equal((await ada.read(first)).head.sha, sha)
}))

test('pushing the commits to the base merges the pull request, by the pusher', inject(async (forge) => {
  const { ada, ben, work, desk, topic, main } = forge
  await forge.propose()
  await work.git('checkout', '--quiet', '-b', 'side', 'main')
  await work.commit('Aside', { 'side.txt': 's\n' })
  await work.push('side')
  await forge.propose({ head: 'side' })
  const other = await desk.clone(ben, 'ada/engine')
  await other.git('merge', '--quiet', '--no-ff', '-m', 'By hand', 'origin/topic')
  const sha = await other.head()
  await other.push('main')
  await forge.follow()
  const pull = await ada.read(first)
  assert.partialDeepStrictEqual(pull, {
    state: 'closed',
    merged: true,
    merge_commit_sha: sha,
    merged_by: { login: 'ben' },
    head: { sha: topic },
    base: { sha: main },
    commits: 1,
    changed_files: 1,
  })
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/2`), { state: 'open', base: { sha }, mergeable: true })
  assert.deepEqual(await pullEvents(forge), ['ada opened 1', 'ada opened 2', 'ben closed merged 1'])
}))

test('deleting the base closes the pull request, and it cannot be reopened without one', inject(async (forge) => {
  const { ada, ben, work, main } = forge
  await work.push('main:refs/heads/stable')
  await forge.propose({ base: 'stable' })
  await expect(204, await ben.delete(`${engine}/git/refs/heads/stable`))
  await forge.follow()
  assert.partialDeepStrictEqual(await ada.read(first), { state: 'closed', merged: false })
  assert.deepEqual(await pullEvents(forge), ['ada opened 1', 'ben closed 1'])
  const { errors } = await expect(422, await ada.patch(first, { state: 'open' }))
  assert.equal(errors[0].message, 'The stable branch was deleted.')
  await expect(201, await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/stable', sha: main }))
  await expect(200, await ada.patch(first, { state: 'open' }))
}))

test('the base can be changed to a branch that lacks the commits', inject(async ({ ada, cy, work, topic, propose }) => {
  await work.git('checkout', '--quiet', '-b', 'next', 'topic')
  const next = await work.commit('Next', { 'next.txt': 'n\n' })
  await work.push('next')
  await propose({ head: 'next' })
  await propose()
  await expect(403, await cy.patch(first, { base: 'topic' }))
  const changed = await expect(200, await ada.patch(first, { base: 'topic' }))
  assert.partialDeepStrictEqual(changed, { base: { ref: 'topic', sha: topic }, head: { sha: next }, commits: 1, mergeable: true })
  for (const base of ['nowhere', 'next']) await expect(422, await ada.patch(first, { base }))
  await expect(200, await ada.patch(first, { base: 'main' }))
  await expect(200, await ada.patch(first, { state: 'closed' }))
  await expect(422, await ada.patch(first, { base: 'topic' }))
  await propose({ head: 'next' })
  await expect(422, await ada.patch(first, { state: 'open' }))
}))

test('update-branch merges new commits of the base into the branch', inject(async ({ forge, ada, ben, dan, work, topic }) => {
  await forge.propose()
  const update = `${first}/update-branch`
  assert.equal((await expect(422, await ada.put(update))).message, 'There are no new commits on the base branch.')
  await work.git('checkout', '--quiet', 'main')
  const main = await work.commit('On', { 'on.txt': 'o\n' })
  await work.push('main')
  await expect(422, await ada.put(update, { expected_head_sha: main }))
  await expect(403, await dan.put(update))
  await expect(202, await ben.put(update, { expected_head_sha: topic }))
  await forge.follow()
  const { head, commits } = await ada.read(first)
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('log', '-1', '--format=%P|%an|%B', head.sha), `${topic} ${main}|ben|Merge branch 'main' into topic`)
  assert.equal(commits, 2)
}))
