import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, injecting, type Person } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const first = `${engine}/pulls/1`

/** A user's fork, with a branch of one commit. */
async function fork({ desk, follow }: Awaited<ReturnType<typeof openWithTopic>>, who: Person) {
  await expect(202, await who.post(`${engine}/forks`))
  await follow()
  const work = await desk.clone(who, `${who.login}/engine`)
  await work.git('checkout', '--quiet', '-b', 'idea')
  const idea = await work.commit('Idea', { 'idea.txt': 'An idea.\n' })
  await work.push('idea')
  return { work, idea }
}

test('a user without access opens a pull request from a fork, pushes again, and it is merged', inject(async (forge) => {
  const { ada, dan } = forge
  const { work, idea } = await fork(forge, dan)
  for (const head of ['idea', 'ben:idea'])
    await expect(422, await dan.post(`${engine}/pulls`, { title: 'x', head, base: 'main' }))
  await expect(403, await dan.post(`${engine}/pulls`, { title: 'x', head: 'topic', base: 'main' }))
  const pull = await forge.propose({ title: 'Idea', head: 'dan:idea' }, dan)
  assert.partialDeepStrictEqual(pull, {
    head: { label: 'dan:idea', sha: idea, repo: { full_name: 'dan/engine', fork: true }, user: { login: 'dan' } },
    base: { label: 'ada:main', repo: { full_name: 'ada/engine' } },
    author_association: 'NONE',
    mergeable: true,
    changed_files: 1,
  })
  const sha = await work.commit('Better', { 'idea.txt': 'A better idea.\n' })
  await work.push('idea')
  await forge.follow()
  assert.partialDeepStrictEqual(await ada.read(first), { head: { sha }, commits: 2 })
  assert.partialDeepStrictEqual(await ada.read(`${first}/files`), [{ filename: 'idea.txt', additions: 1 }])
  assert.deepEqual(
    [...(await forge.belfry.storage.refsOf(forge.id)).keys()].filter((name) => /pull/.test(name)),
    ['refs/pull/1/head'],
  )
  await expect(403, await dan.put(`${first}/merge`))
  await expect(200, await ada.put(`${first}/merge`))
  await forge.work.git('fetch', '--quiet')
  assert.equal(await forge.work.git('show', 'origin/main:idea.txt'), 'A better idea.')
}))

test('a pull request outlives its head repository and its author', inject(async ({ forge, ada, dan }) => {
  const { idea } = await fork(forge, dan)
  await forge.propose({ title: 'Idea', head: 'dan:idea' }, dan)
  await expect(204, await dan.delete('/repos/dan/engine'))
  await forge.follow()
  assert.partialDeepStrictEqual(await ada.read(first), { head: { repo: null, sha: idea, label: 'dan:idea' }, mergeable: true })
  await expect(422, await ada.put(`${first}/update-branch`))
  await expect(200, await ada.put(`${first}/merge`, { merge_method: 'squash' }))
  assert.equal((await ada.read(`${first}/commits`)).length, 1)
}))

test('a private fork is hidden from viewers without access', inject(async ({ forge, ada, ben, cy }) => {
  await expect(200, await ada.patch(engine, { private: true }))
  const { idea } = await fork(forge, ben)
  await expect(404, await cy.get('/repos/ben/engine'))
  await forge.propose({ title: 'Idea', head: 'ben:idea' }, ben)
  const seen = async (who: Person) => [await who.read(first), ...(await who.read(`${engine}/pulls`))]
  for (const pull of await seen(ben)) assert.equal(pull.head.repo.full_name, 'ben/engine')
  for (const pull of await seen(cy)) assert.partialDeepStrictEqual(pull, { head: { repo: null, sha: idea, ref: 'idea' } })
  const [event] = await cy.read(`${engine}/events`)
  assert.deepEqual([event.type, event.payload.pull_request.head.repo], ['PullRequestEvent', null])
  assert.equal((await cy.read(`${first}/files`)).length, 1)
  await expect(404, await forge.dan.get(first))
}))

test('push access to the base covers a fork’s branch only with maintainer_can_modify', inject(async (forge) => {
  const { ada, ben, dan, work } = forge
  await fork(forge, dan)
  // Ben may push to the base: enough to open the pull request, but not to grant access to Dan's fork.
  const asked = await forge.propose({ title: 'Idea', head: 'dan:idea', maintainer_can_modify: true }, ben)
  assert.equal(asked.maintainer_can_modify, false)
  await work.git('checkout', '--quiet', 'main')
  await work.commit('On', { 'on.txt': 'o\n' })
  await work.push('main')
  const update = `${first}/update-branch`
  await expect(403, await ada.put(update))
  await expect(403, await ben.patch(first, { maintainer_can_modify: true }))
  await expect(200, await ben.patch(first, { state: 'closed' }))
  await forge.propose({ title: 'Idea', head: 'dan:idea', maintainer_can_modify: true }, dan)
  await expect(202, await ada.put(`${engine}/pulls/2/update-branch`))
  await forge.follow()
  const { head, commits } = await ada.read(`${engine}/pulls/2`)
  assert.equal(commits, 2)
  assert.equal((await dan.read('/repos/dan/engine/git/ref/heads/idea')).object.sha, head.sha)
}))

test('a renamed or transferred repository keeps its pull requests', inject(async ({ forge, ada, dan, topic }) => {
  await fork(forge, dan)
  await forge.propose()
  await forge.propose({ title: 'Idea', head: 'dan:idea' }, dan)
  await expect(200, await dan.patch('/repos/dan/engine', { name: 'motor' }))
  await expect(200, await ada.patch(engine, { name: 'machine' }))
  const [idea, notes] = await ada.read('/repos/ada/machine/pulls')
  assert.equal(idea.head.repo.full_name, 'dan/motor')
  assert.partialDeepStrictEqual(notes, { head: { sha: topic, repo: { full_name: 'ada/machine' } } })
  await expect(200, await ada.put('/repos/ada/machine/pulls/2/merge'))
}))
