import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge, type Person } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'

const logins = (people: { login: string }[]) => people.map((person) => person.login)
const names = (repos: { full_name: string }[]) => repos.map((repo) => repo.full_name)
const path = '/repos/ada/engine/subscription'

/** Ada's repository, which she watches as its creator; Ben does not. */
async function openEngine() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  /** The watchers, after checking that the list and the count agree. */
  const watchers = async () => {
    const listed = logins(await ada.read('/repos/ada/engine/subscribers'))
    assert.equal((await ada.read('/repos/ada/engine')).subscribers_count, listed.length)
    return listed
  }
  return Object.assign(forge, { ada, ben, watchers })
}

test('the creator of a repository watches it', async () => {
  await using forge = await openEngine()
  assert.deepEqual(await forge.watchers(), ['ada'])
  assert.deepEqual(await forge.ada.read(path), {
    subscribed: true,
    ignored: false,
    reason: null,
    created_at: '2026-02-03T04:05:06Z',
    url: `${forge.web}/api/v3${path}`,
    repository_url: `${forge.web}/api/v3/repos/ada/engine`,
  })
  assert.equal((await forge.ada.versioned.read(path)).url, `${forge.versioned}${path}`)
})

test('a user watches, ignores, or does neither', async () => {
  await using forge = await openEngine()
  const { ben, watchers } = forge
  const set = async (body?: Record<string, unknown>) => {
    const { subscribed, ignored } = await expect(200, await ben.put(path, body))
    return { subscribed, ignored }
  }
  const watching = { subscribed: true, ignored: false }
  const ignoring = { subscribed: false, ignored: true }
  const neither = { subscribed: false, ignored: false }
  assert.equal((await ben.get(path)).status, 404)
  assert.deepEqual(await set({}), watching)
  assert.deepEqual(await watchers(), ['ada', 'ben'])
  assert.deepEqual(await set({ ignored: true }), ignoring)
  assert.partialDeepStrictEqual(await ben.read(path), ignoring)
  assert.deepEqual(await watchers(), ['ada'])
  assert.deepEqual(await set({ subscribed: true, ignored: true }), ignoring, 'ignoring wins')
  assert.deepEqual(await set({ subscribed: false, ignored: true }), ignoring)
  assert.deepEqual(await set({ ignored: false }), watching)
  assert.deepEqual(await set(), watching)
  assert.deepEqual(await watchers(), ['ada', 'ben'])
  assert.deepEqual(await set({ subscribed: false }), neither)
  assert.equal((await ben.get(path)).status, 404)
  assert.deepEqual(await set({ subscribed: false, ignored: false }), neither)
  assert.deepEqual(await watchers(), ['ada'])
  assert.deepEqual(await set({ subscribed: true }), watching)
  for (let time = 0; time < 2; time++) assert.equal((await ben.delete(path)).status, 204)
  assert.equal((await ben.get(path)).status, 404)
  assert.deepEqual(await watchers(), ['ada'])
})

test('watching again keeps created_at', async () => {
  await using forge = await openEngine()
  forge.clock.advance(60_000)
  assert.equal((await expect(200, await forge.ada.put(path, {}))).created_at, '2026-02-03T04:05:06Z')
  assert.equal((await expect(200, await forge.ben.put(path, {}))).created_at, '2026-02-03T04:06:06Z')
})

test('a subscription of the wrong type is refused, and changes nothing', async () => {
  await using forge = await openEngine()
  for (const body of [{ subscribed: 'yes' }, { ignored: 1 }, { subscribed: null }]) {
    assert.equal((await forge.ben.put(path, body)).status, 422, JSON.stringify(body))
  }
  for (const body of ['[]', 'junk', '1']) assert.equal((await forge.ben.put(path, body)).status, 400, body)
  assert.deepEqual(await forge.watchers(), ['ada'])
})

test('watched repositories are listed without ignored ones, and private ones only with access', async () => {
  await using forge = await openEngine()
  const { ada, ben } = forge
  for (const name of ['secret', 'clock', 'dull']) await ada.owns(name, { private: name === 'secret' })
  await expect(200, await ada.put('/repos/ada/dull/subscription', { ignored: true }))
  assert.deepEqual(names(await ada.read('/user/subscriptions')), ['ada/engine', 'ada/secret', 'ada/clock'])
  assert.deepEqual(names(await ada.versioned.read('/users/ada/subscriptions')), ['ada/engine', 'ada/secret', 'ada/clock'])
  for (const who of [ben, forge.nobody, forge.nobodyVersioned, await forge.tokenFor('ada', ['public_repo'])]) {
    assert.deepEqual(names(await who.read('/users/ada/subscriptions')), ['ada/engine', 'ada/clock'])
  }
  const [item] = await ada.read('/user/subscriptions')
  assert.ok('subscribers_url' in item && !('stargazers_count' in item))
  const page = await ada.get('/user/subscriptions?per_page=2')
  const at = `<${forge.web}/api/v3/user/subscriptions?per_page=2&page=2>`
  assert.equal(page.headers.get('link'), `${at}; rel="next", ${at}; rel="last"`)
  assert.deepEqual(names(await ada.read('/user/subscriptions?per_page=2&page=2')), ['ada/clock'])
  for (const hidden of ['subscribers', 'subscription']) {
    assert.equal((await ben.get(`/repos/ada/secret/${hidden}`)).status, 404, hidden)
  }
  assert.equal((await ben.put('/repos/ada/secret/subscription', {})).status, 404)
  assert.equal((await ben.delete('/repos/ada/secret/subscription')).status, 404)
})

test('watchers are listed in pages, oldest first', async () => {
  await using forge = await openEngine()
  const cy = await forge.person('cy')
  for (const who of [cy, forge.ben]) {
    forge.clock.advance(1000)
    await expect(200, await who.put(path, {}))
  }
  const list = '/repos/ada/engine/subscribers?per_page=2'
  const page = await forge.nobody.get(list)
  const at = `<${forge.web}/api/v3${list}&page=2>`
  assert.equal(page.headers.get('link'), `${at}; rel="next", ${at}; rel="last"`)
  const etag = page.headers.get('etag') ?? ''
  assert.deepEqual(logins(await expect(200, page)), ['ada', 'cy'])
  assert.deepEqual(logins(await forge.nobody.read(`${list}&page=2`)), ['ben'])
  assert.equal((await forge.nobody.with({ 'if-none-match': etag }).get(list)).status, 304)
})

test('the subscription of the caller requires a scope, and the list of watchers does not', async () => {
  await using forge = await openEngine()
  const [narrow, bare] = [await forge.tokenFor('ben', ['notifications']), await forge.tokenFor('ben', ['public_repo'])]
  for (const answer of [await bare.get(path), await bare.put(path, {}), await bare.delete(path)]) {
    assert.equal((await expect(403, answer)).message, "Missing the 'notifications' or 'repo' scope.")
  }
  await expect(200, await narrow.put(path, {}))
  assert.equal((await narrow.read(path)).subscribed, true)
  assert.deepEqual(names(await bare.read('/user/subscriptions')), ['ada/engine'])
  assert.deepEqual(logins(await forge.nobody.read('/repos/ada/engine/subscribers')), ['ada', 'ben'])
  assert.equal((await narrow.delete(path)).status, 204)
  for (const method of ['get', 'put', 'delete'] as const) assert.equal((await forge.nobody[method](path)).status, 401)
  assert.equal((await forge.nobody.get('/user/subscriptions')).status, 401)
})

test('the count of watchers stays exact while many users change their subscriptions concurrently', async () => {
  await using forge = await openEngine()
  const people = await Promise.all(Array.from({ length: 10 }, (_, index) => forge.person(`p${index}`)))
  const acts = Array.from({ length: 50 }, (_, index) => {
    const who = people[(index * 3) % people.length] as Person
    if (index % 5 === 4) return who.delete(path)
    return who.put(path, index % 5 === 3 ? { ignored: true } : {})
  })
  for (const answer of await Promise.all(acts)) assert.ok(answer.status === 200 || answer.status === 204, String(answer.status))
  const listed = await forge.watchers()
  for (const who of people) {
    const answer = await who.get(path)
    const watches = answer.status === 200 && (await expect(200, answer)).subscribed
    assert.equal(listed.includes(who.login), watches, who.login)
  }
})

test('octokit watches, checks, lists and unwatches on both variants', async () => {
  await using forge = await openEngine()
  for (const baseUrl of [`${forge.web}/api/v3`, forge.versioned]) {
    const { activity } = new Octokit({ auth: forge.ben.token, baseUrl }).rest
    const repo = { owner: 'ada', repo: 'engine' }
    await assert.rejects(activity.getRepoSubscription(repo), { status: 404 })
    const { data } = await activity.setRepoSubscription({ ...repo, subscribed: true })
    assert.partialDeepStrictEqual(data, { subscribed: true, ignored: false, repository_url: `${baseUrl}/repos/ada/engine` })
    assert.deepEqual((await activity.getRepoSubscription(repo)).data, data)
    assert.deepEqual(logins((await activity.listWatchersForRepo(repo)).data), ['ada', 'ben'])
    assert.deepEqual(names((await activity.listWatchedReposForAuthenticatedUser()).data), ['ada/engine'])
    assert.deepEqual(names((await activity.listReposWatchedByUser({ username: 'ben' })).data), ['ada/engine'])
    assert.equal((await activity.deleteRepoSubscription(repo)).status, 204)
  }
})
