import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { type Client, expect, openForge, type Person } from '#test/forge.ts'
import { makeToken, signedIn } from '#test/guest.ts'
import { Octokit } from '#test/octokit.ts'

const logins = (people: { login: string }[]) => people.map((person) => person.login)
const names = (repos: { full_name: string }[]) => repos.map((repo) => repo.full_name)
const star = async (who: Client, repo: string) => assert.equal((await who.put(`/user/starred/${repo}`)).status, 204, repo)
const unstar = async (who: Client, repo: string) => assert.equal((await who.delete(`/user/starred/${repo}`)).status, 204, repo)

/** Ada's repository, and the users Ben and Cy. */
async function openEngine() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('engine')
  const events = async () => {
    const rows = await forge.belfry.db.rows<{ type: string }>(sql`select type from events where type = 'WatchEvent'`)
    return rows.length
  }
  const counts = async (repo = 'ada/engine') => {
    const { stargazers_count, watchers_count, watchers } = await ada.read(`/repos/${repo}`)
    assert.equal(watchers_count, stargazers_count)
    assert.equal(watchers, stargazers_count)
    assert.equal((await ada.read(`/repos/${repo}/stargazers/count`)).count, stargazers_count)
    return stargazers_count
  }
  return Object.assign(forge, { ada, ben, cy, events, counts })
}

test('starring twice and unstarring without a star change nothing', async () => {
  await using forge = await openEngine()
  const { ben } = forge
  assert.equal((await ben.get('/user/starred/ada/engine')).status, 404)
  await star(ben, 'ada/engine')
  forge.clock.advance(60_000)
  await star(ben, 'ADA/Engine')
  assert.equal((await ben.get('/user/starred/ada/engine')).status, 204)
  assert.equal(await forge.counts(), 1)
  assert.equal(await forge.events(), 1)
  const [first] = await ben.with({ accept: 'application/vnd.service.v3.star+json' }).read('/user/starred')
  assert.equal(first.starred_at, '2026-02-03T04:05:06Z', 'the first star counts')
  await unstar(ben, 'ada/engine')
  await unstar(ben, 'ada/engine')
  assert.equal((await ben.get('/user/starred/ada/engine')).status, 404)
  assert.deepEqual(await ben.read('/user/starred'), [])
  assert.deepEqual(await forge.nobody.read('/repos/ada/engine/stargazers'), [])
  assert.equal(await forge.counts(), 0)
  await star(ben, 'ada/engine')
  assert.equal(await forge.events(), 2, 'a star given anew is news')
})

test('a star request needs no Content-Length', async () => {
  await using forge = await openEngine()
  const put = (who: Person, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${forge.web}/api/v3/user/starred/ada/engine`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${who.token}`, ...headers },
      })
      sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject)
      sent.end()
    })
  assert.equal(await put(forge.ada, { 'transfer-encoding': 'chunked' }), 204)
  assert.equal(await put(forge.ben, { 'content-length': '0' }), 204)
  assert.equal(await put(forge.cy, { 'content-length': '0', 'content-type': 'application/json' }), 204)
  assert.deepEqual(logins(await forge.nobody.read('/repos/ada/engine/stargazers')), ['ada', 'ben', 'cy'])
})

test('starring requires a scope, and reading does not', async () => {
  await using forge = await openEngine()
  const [narrow, bare] = [await forge.tokenFor('ben', ['public_repo']), await forge.tokenFor('ben', ['user'])]
  const refused = await expect(403, await bare.put('/user/starred/ada/engine'))
  assert.equal(refused.message, "Missing the 'public_repo' or 'repo' scope.")
  assert.equal(await forge.counts(), 0)
  await star(narrow, 'ada/engine')
  assert.equal((await bare.delete('/user/starred/ada/engine')).status, 403)
  assert.equal((await bare.get('/user/starred/ada/engine')).status, 204)
  assert.deepEqual(names(await bare.read('/user/starred')), ['ada/engine'])
  for (const method of ['get', 'put', 'delete'] as const) {
    assert.equal((await forge.nobody[method]('/user/starred/ada/engine')).status, 401, method)
  }
  assert.equal((await forge.nobody.get('/user/starred')).status, 401)
  for (const path of ['/users/none-such/starred', '/repos/ada/none/stargazers', '/repos/ada/none/stargazers/count']) {
    assert.equal((await forge.nobody.get(path)).status, 404, path)
  }
})

test('a fine-grained token needs the permission to star', async () => {
  await using forge = await openEngine()
  const visitor = await signedIn(forge, 'ben')
  const holderOf = (permission: Record<string, string>) =>
    makeToken(forge, visitor, 'ben', '/settings/tokens/fine-grained', permission)
  const bare = await holderOf({})
  const reader = await holderOf({ 'permission:starring': 'read' })
  const writer = await holderOf({ 'permission:starring': 'write' })
  for (const holder of [bare, reader]) assert.equal((await holder.put('/user/starred/ada/engine')).status, 403)
  await star(writer, 'ada/engine')
  for (const path of ['/user/starred', '/user/starred/ada/engine']) {
    assert.equal((await bare.get(path)).status, 403, path)
    assert.ok((await reader.get(path)).ok, path)
  }
  assert.equal((await reader.delete('/user/starred/ada/engine')).status, 403)
  assert.equal(await forge.counts(), 1)
  await unstar(writer, 'ada/engine')
  assert.equal(await forge.counts(), 0)
  const subscription = '/repos/ada/engine/subscription'
  assert.equal((await writer.put(subscription, {})).status, 403)
  const watcher = await holderOf({ 'permission:watching': 'write' })
  await expect(200, await watcher.put(subscription, {}))
  assert.equal((await watcher.put('/user/starred/ada/engine')).status, 403)
  assert.deepEqual(names(await watcher.read('/user/subscriptions')), ['ada/engine'])
  assert.equal((await reader.get('/user/subscriptions')).status, 403)
})

test('concurrent requests create one star', async () => {
  await using forge = await openEngine()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 ? forge.ben : forge.ben.versioned).put('/user/starred/ada/engine')),
  )
  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [204])
  assert.equal(await forge.counts(), 1)
  assert.equal(await forge.events(), 1)
})

test('counts stay exact while many users star and unstar concurrently', async () => {
  await using forge = await openEngine()
  await forge.ada.owns('clock')
  const people = await Promise.all(Array.from({ length: 12 }, (_, index) => forge.person(`p${index}`)))
  const acts = Array.from({ length: 50 }, (_, index) => {
    const who = people[(index * 5) % people.length] as Person
    const path = `/user/starred/ada/${index % 3 ? 'engine' : 'clock'}`
    return index % 4 === 3 ? who.delete(path) : who.put(path)
  })
  for (const answer of await Promise.all(acts)) assert.equal(answer.status, 204)
  for (const name of ['engine', 'clock']) {
    const gazers = logins(await forge.ada.read(`/repos/ada/${name}/stargazers?per_page=100`))
    assert.equal(await forge.counts(`ada/${name}`), gazers.length)
    assert.equal(new Set(gazers).size, gazers.length)
    for (const who of people) {
      const { status } = await who.get(`/user/starred/ada/${name}`)
      assert.equal(status, gazers.includes(who.login) ? 204 : 404, who.login)
    }
  }
  await Promise.all(people.map((who) => who.put('/user/starred/ada/engine')))
  assert.equal(await forge.counts(), people.length)
  await Promise.all(people.map((who) => who.delete('/user/starred/ada/engine')))
  assert.equal(await forge.counts(), 0)
})

test('the star of a suspended user is still counted and listed', async () => {
  await using forge = await openEngine()
  await star(forge.ben, 'ada/engine')
  assert.equal((await forge.admin.put('/users/ben/suspended')).status, 204)
  assert.deepEqual(logins(await forge.nobody.read('/repos/ada/engine/stargazers')), ['ben'])
  assert.equal(await forge.counts(), 1)
})

test('stars follow a renamed repository and are deleted with it', async () => {
  await using forge = await openEngine()
  await star(forge.ben, 'ada/engine')
  await expect(200, await forge.ada.patch('/repos/ada/engine', { name: 'mill' }))
  assert.deepEqual(names(await forge.ben.read('/user/starred')), ['ada/mill'])
  const moved = await forge.ben.get('/user/starred/ada/engine')
  assert.equal(moved.status, 301)
  assert.equal((await forge.ben.get(moved.headers.get('location') ?? '')).status, 204)
  assert.equal((await forge.ada.delete('/repos/ada/mill')).status, 204)
  assert.deepEqual(await forge.ben.read('/user/starred'), [])
})

test('octokit stars, checks, lists and unstars on both variants', async () => {
  await using forge = await openEngine()
  for (const baseUrl of [`${forge.web}/api/v3`, forge.versioned]) {
    const { activity } = new Octokit({ auth: forge.ben.token, baseUrl }).rest
    const repo = { owner: 'ada', repo: 'engine' }
    await assert.rejects(activity.checkRepoIsStarredByAuthenticatedUser(repo), { status: 404 })
    assert.equal((await activity.starRepoForAuthenticatedUser(repo)).status, 204)
    assert.equal((await activity.checkRepoIsStarredByAuthenticatedUser(repo)).status, 204)
    assert.deepEqual(names((await activity.listReposStarredByAuthenticatedUser()).data), ['ada/engine'])
    const dated = { headers: { accept: 'application/vnd.github.star+json' } }
    const starred = await activity.listReposStarredByUser({ username: 'ben', ...dated })
    assert.partialDeepStrictEqual(starred.data, [{ starred_at: '2026-02-03T04:05:06Z', repo: { full_name: 'ada/engine' } }])
    const gazers = await activity.listStargazersForRepo({ ...repo, ...dated })
    assert.partialDeepStrictEqual(gazers.data, [{ starred_at: '2026-02-03T04:05:06Z', user: { login: 'ben' } }])
    assert.equal((await activity.unstarRepoForAuthenticatedUser(repo)).status, 204)
  }
})
