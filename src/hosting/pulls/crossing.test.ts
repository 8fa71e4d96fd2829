import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, join } from '#test/conversations.ts'
import { type Client, expect, injecting, type Person } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

type Place = Awaited<ReturnType<typeof openWithTopic>>

const first = `${engine}/pulls/1`

/** Forks the engine, with its contents. */
async function fork({ follow }: Place, who: Person) {
  await expect(202, await who.post(`${engine}/forks`))
  await follow()
  return `/repos/${who.login}/engine`
}

/** Forks the engine and pushes a branch `idea` with one commit to the fork. */
async function forkWithIdea(forge: Place, who: Person) {
  const path = await fork(forge, who)
  const work = await forge.desk.clone(who, `${who.login}/engine`)
  await work.git('checkout', '--quiet', '-b', 'idea')
  const idea = await work.commit('Idea', { 'idea.txt': 'An idea.\n' })
  await work.push('idea')
  return { path, work, idea }
}

/** Pushes one more commit to the checked out branch. */
async function pushMore({ follow }: Place, work: Place['work'], name: string) {
  const sha = await work.commit(name, { [`${name}.txt`]: `${name}\n` })
  await work.push('HEAD')
  await follow()
  return sha
}

async function filesOf(client: Client, pull: string): Promise<string[]> {
  return (await client.read(`${pull}/files`)).map(({ filename }: { filename: string }) => filename)
}

test('a head that becomes private is not followed into a public base', inject(async (forge) => {
  const { ada, dan, nobody, work, desk, topic } = forge
  const path = await fork(forge, dan)
  const pull = `${path}/pulls/1`
  await expect(201, await dan.post(`${path}/pulls`, { title: 'Sync', head: 'ada:topic', base: 'main' }))
  const open = await pushMore(forge, work, 'open')
  assert.equal((await nobody.read(pull)).head.sha, open, 'what is public is followed')
  await expect(200, await ada.patch(engine, { private: true }))
  const secret = await pushMore(forge, work, 'secret')
  const frozen = async () => {
    assert.deepEqual(await filesOf(nobody, pull), ['notes.txt', 'open.txt'])
    assert.equal((await nobody.read(`${pull}/commits`)).length, 2)
    const shown = await nobody.read(pull)
    assert.partialDeepStrictEqual(shown, { head: { sha: open, repo: null }, state: 'open', mergeable: true })
    const anyone = await desk.begin(null, 'dan/engine')
    assert.match(await anyone.git('ls-remote', 'origin', 'refs/pull/1/head'), new RegExp(open))
    const fetched = await anyone.attempt('fetch', 'origin', secret)
    assert.notEqual(fetched.status, 0, 'the commit is not there under any name')
  }
  await frozen()
  await expect(200, await dan.patch(pull, { state: 'closed' }))
  await expect(200, await dan.patch(pull, { state: 'open' }))
  await forge.follow()
  await frozen()
  await expect(422, await dan.put(`${pull}/update-branch`))
  const merged = await expect(200, await dan.put(`${pull}/merge`))
  assert.equal(merged.merged, true, 'what it has can still be merged')
  assert.notEqual(topic, open)
}))

test('a pull request catches up with a head that becomes public again', inject(async ({ forge, ada, dan, work }) => {
  const path = await fork(forge, dan)
  await expect(201, await dan.post(`${path}/pulls`, { title: 'Sync', head: 'ada:topic', base: 'main' }))
  await expect(200, await ada.patch(engine, { private: true }))
  const later = await pushMore(forge, work, 'later')
  await expect(200, await ada.patch(engine, { private: false }))
  await forge.follow()
  assert.equal((await dan.read(`${path}/pulls/1`)).head.sha, later)
}))

test('a private fork cannot be the head of a pull request to a public parent', inject(async ({ forge, ada, dan, nobody }) => {
  const { path, work, idea } = await forkWithIdea(forge, dan)
  await forge.propose({ title: 'Idea', head: 'dan:idea' }, dan)
  await expect(200, await dan.patch(path, { private: true }))
  const secret = await pushMore(forge, work, 'secret')
  assert.partialDeepStrictEqual(await nobody.read(first), { head: { sha: idea, repo: null } })
  await expect(200, await ada.patch(first, { state: 'closed' }))
  const refused = await expect(422, await dan.post(`${engine}/pulls`, { title: 'Idea', head: 'dan:idea', base: 'main' }))
  assert.match(refused.errors[0].message, /private/)
  const objects = forge.belfry.storage.pathOf(forge.id)
  const held = await forge.work.attempt('-C', objects, 'cat-file', '-e', secret)
  assert.notEqual(held.status, 0, 'nothing was copied to find that out')
  await expect(200, await ada.patch(engine, { private: true }))
  await expect(404, await dan.get(first))
}))

test('a private fork of a private parent is followed while its author can see both', inject(async ({ forge, ada, ben }) => {
  await expect(200, await ada.patch(engine, { private: true }))
  const { work } = await forkWithIdea(forge, ben)
  await forge.propose({ title: 'Idea', head: 'ben:idea' }, ben)
  const more = await pushMore(forge, work, 'more')
  assert.equal((await ada.read(first)).head.sha, more)
  await expect(204, await ada.delete(`${engine}/collaborators/ben`))
  await work.commit('after', { 'after.txt': 'after' })
  assert.notEqual((await work.attempt('push', '--quiet', 'origin', 'HEAD')).status, 0, 'the fork went with the access')
  assert.equal((await ada.read(first)).head.sha, more)
  assert.deepEqual(await filesOf(ada, first), ['idea.txt', 'more.txt'])
  await expect(200, await ada.put(`${first}/merge`))
}))

test('a user who loses access to a private parent gets no new commits through a fork', inject(async (forge) => {
  const { ada, ben, dan, work, topic } = forge
  await expect(200, await ada.patch(engine, { private: true }))
  const path = await fork(forge, ben)
  const pull = `${path}/pulls/1`
  await join(ben, dan, 'push', path)
  await expect(404, await dan.post(`${path}/pulls`, { title: 'Sync', head: 'ada:topic', base: 'main' }))
  await expect(201, await ben.post(`${path}/pulls`, { title: 'Sync', head: 'ada:topic', base: 'main' }))
  const seen = await pushMore(forge, work, 'seen')
  assert.equal((await ben.read(pull)).head.sha, seen)
  assert.notEqual(seen, topic)

  await expect(200, await ben.patch(pull, { state: 'closed' }))
  const closed = await pushMore(forge, work, 'closed')
  await expect(404, await dan.patch(pull, { state: 'open' }))
  await expect(200, await ben.patch(pull, { state: 'open' }))
  await forge.follow()
  assert.equal((await ben.read(pull)).head.sha, closed)

  await expect(204, await ada.delete(`${engine}/collaborators/ben`))
  await pushMore(forge, work, 'lost')
  assert.equal((await ben.get(pull)).status, 404)
  await join(ada, ben, 'pull')
  assert.equal((await ben.read(pull)).head.sha, closed)
  await expect(409, await ben.put(`${pull}/merge`))
  await forge.follow()
  assert.deepEqual(await filesOf(ben, pull), ['closed.txt', 'lost.txt', 'notes.txt', 'seen.txt'], 'with access, it goes on')
}))

test('a head in an organization is followed only while the author can see it', inject(async ({ forge, ada, ben, cy }) => {
  await expect(200, await ada.patch(engine, { private: true }))
  await forge.organization('acme', cy)
  await expect(200, await cy.put('/orgs/acme/memberships/ben'))
  await expect(202, await ben.post(`${engine}/forks`, { organization: 'acme' }))
  await forge.follow()
  const work = await forge.desk.clone(ben, 'acme/engine')
  await work.git('checkout', '--quiet', '-b', 'idea')
  await work.commit('Idea', { 'idea.txt': 'An idea.\n' })
  await work.push('idea')
  await forge.propose({ title: 'Idea', head: 'acme:idea' }, ben)
  const theirs = await forge.desk.clone(cy, 'acme/engine', '--branch', 'idea')
  const given = await pushMore(forge, theirs, 'given')
  assert.equal((await ada.read(first)).head.sha, given)
  await expect(204, await cy.delete('/orgs/acme/memberships/ben'))
  await expect(204, await cy.delete('/repos/acme/engine/collaborators/ben'))
  await pushMore(forge, theirs, 'taken')
  assert.equal((await ada.read(first)).head.sha, given)
}))

test('a branch is updated from its base only while the author can see the base', inject(async ({ forge, ada, ben, work }) => {
  await expect(200, await ada.patch(engine, { private: true }))
  const { path } = await forkWithIdea(forge, ben)
  await join(ben, ada, 'push', path)
  await forge.propose({ title: 'Idea', head: 'ben:idea' }, ben)
  await work.git('checkout', '--quiet', 'main')
  await pushMore(forge, work, 'base')
  await expect(202, await ada.put(`${first}/update-branch`))
  await forge.follow()
  await expect(204, await ada.delete(`${engine}/collaborators/ben`))
  await pushMore(forge, work, 'secret')
  const { message } = await expect(422, await ada.put(`${first}/update-branch`))
  assert.match(message, /author/)
  await join(ada, ben, 'pull')
  await expect(404, await ben.get(`${path}/contents/secret.txt?ref=idea`))
  // A hidden head and a deleted one give the same answer.
  await expect(204, await ben.delete(`${path}/collaborators/ada`))
  const hidden = await expect(422, await ada.put(`${first}/update-branch`))
  await expect(204, await ben.delete(path))
  assert.deepEqual(await expect(422, await ada.put(`${first}/update-branch`)), hidden)
}))
