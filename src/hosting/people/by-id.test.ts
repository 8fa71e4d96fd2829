import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDocumented } from '#test/documented.ts'
import { expect, injecting, linesOf, openForge } from '#test/forge.ts'

/** An organization of Ada's with a repository and a team of Ben's; Eve is outside. */
const inject = injecting(async () => {
  const forge = await openForge()
  const [ada, ben, eve] = [await forge.person('ada'), await forge.person('ben'), await forge.person('eve')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  // The documentation has no null in the profile of a team's organization.
  const profile = { name: 'Acme', company: 'Acme', blog: 'https://acme.example', location: 'Here', email: 'us@acme.example' }
  await expect(200, await ada.patch('/orgs/acme', profile))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine', private: true }))
  const crew = await expect(
    201,
    await ada.post('/orgs/acme/teams', {
      name: 'Crew',
      maintainers: ['BEN'],
      repo_names: ['acme/Engine'],
      permission: 'push',
    }),
  )
  return Object.assign(forge, { ada, ben, eve, crew })
})

test('lists of users, organizations and repositories continue after an id', inject(async ({ ada, nobody }) => {
  const everyone = await nobody.read('/users')
  assert.deepEqual(linesOf(everyone, 'login', 'type').slice(-4), ['ada User', 'ben User', 'eve User', 'acme Organization'])
  const first = await nobody.get('/users?per_page=2')
  const link = first.headers.get('link') ?? ''
  const [next = ''] = /(?<=<)[^>]+(?=>; rel="next")/.exec(link) ?? []
  assert.equal(new URL(next).searchParams.get('since'), String(((await first.json()) as { id: number }[])[1]?.id))
  assert.deepEqual(await nobody.read(next.replace(/.*\/api\/v3/, '')), everyone.slice(2, 4))
  assert.equal((await nobody.get(`/users?since=${everyone.at(-1).id}`)).headers.get('link'), null)
  assert.deepEqual(linesOf(await nobody.read('/organizations?since=nonsense'), 'login'), ['acme'])
  for (const name of ['one', 'two']) await ada.owns(name)
  const [one, two] = await nobody.read('/repositories')
  assert.deepEqual([one.full_name, two.full_name], ['ada/one', 'ada/two'], 'a private one is not listed')
  assert.deepEqual(await nobody.read(`/repositories?since=${one.id}`), [two])
}))

test('users, organizations and teams are served by id', inject(async ({ ada, ben, eve, nobody, crew }) => {
  const { id } = await nobody.read('/users/ben')
  assert.deepEqual(await nobody.read(`/user/${id}`), await nobody.read('/users/ben'))
  assert.deepEqual(await nobody.read(`/user/${id}/repos`), [])
  const acme = await ada.read('/orgs/acme')
  assert.deepEqual(await ada.read(`/organizations/${acme.id}`), acme)
  assert.equal((await nobody.get(`/organizations/${id}`)).status, 404)
  assert.equal((await nobody.get('/user/999999')).status, 404)
  for (const path of [`/teams/${crew.id}`, `/organizations/${acme.id}/team/${crew.id}`]) {
    assert.partialDeepStrictEqual(await ben.read(path), { slug: 'crew', permission: 'push', members_count: 2, repos_count: 1 })
    assert.deepEqual(linesOf(await ben.read(`${path}/members?role=maintainer`), 'login'), ['ada', 'ben'])
    assert.equal((await ben.read(`${path}/memberships/ben`)).role, 'maintainer')
    const [repo] = await ben.read(`${path}/repos`)
    assert.partialDeepStrictEqual(repo, { name: 'engine', role_name: 'write', permissions: { push: true, admin: false } })
    assert.equal((await eve.get(path)).status, 404)
  }
  assert.equal((await ben.get('/teams/999999')).status, 404)
  assert.equal((await ada.put(`/teams/${crew.id}/members/ben`)).status, 204)
  assert.equal((await ben.read('/orgs/acme/teams/crew/memberships/ben')).role, 'maintainer', 'a member keeps the role')
  assert.equal((await ada.delete(`/teams/${crew.id}/members/ben`)).status, 204)
  assert.equal((await ada.get(`${crew.url}/members/ben`)).status, 404)
  assert.equal((await ada.get(`${crew.url}/members/ada`)).status, 204)
  await expect(200, await ada.patch(`/teams/${crew.id}`, { permission: 'admin' }))
  assert.equal((await ada.put(`/teams/${crew.id}/repos/acme/engine`)).status, 204)
  assert.equal((await ada.read(`/teams/${crew.id}/repos`))[0].role_name, 'admin', "the team's permission is the default")
  assert.equal((await ada.delete(`/teams/${crew.id}`)).status, 204)
}))

test('a team is created only with repositories that the creator administers', inject(async ({ ada, ben }) => {
  for (const body of [
    { repo_names: ['acme/engine'] },
    { repo_names: ['acme/nothing'] },
    { repo_names: ['ben/own'] },
    { maintainers: ['eve'] },
    { parent_team_id: 1 },
  ]) {
    await ben.post('/user/repos', { name: 'own' })
    const { errors } = await expect(422, await ben.post('/orgs/acme/teams', { name: 'Spies', ...body }))
    assert.partialDeepStrictEqual(errors, [{ resource: 'Team', code: 'invalid', field: Object.keys(body)[0] }])
  }
  assert.deepEqual(linesOf(await ada.read('/orgs/acme/teams'), 'slug'), ['crew'], 'none was created')
}))

test('stars are served under their former names, and watching under its legacy address', inject(async ({ ada, ben }) => {
  await ada.owns('public')
  assert.equal((await ben.put('/user/watched/ada/public')).status, 204)
  assert.equal((await ben.get('/user/starred/ada/public')).status, 204)
  assert.deepEqual(linesOf(await ada.read('/repos/ada/public/watchers'), 'login'), ['ben'])
  for (const path of ['/user/watched', '/users/ben/watched'])
    assert.deepEqual(linesOf(await ben.read(path), 'full_name'), ['ada/public'])
  assert.equal((await ben.delete('/user/watched/ada/public')).status, 204)
  const legacy = '/user/subscriptions/ada/public'
  assert.equal((await ben.get(legacy)).status, 404)
  assert.equal((await ben.put(legacy)).status, 204)
  assert.equal((await ben.get(legacy)).status, 204)
  assert.equal((await ben.read('/repos/ada/public/subscription')).subscribed, true)
  assert.equal((await ben.delete(legacy)).status, 204)
  assert.equal((await ben.get(legacy)).status, 404)
}))

test('responses by id match the public documentation', inject(async ({ ada, crew }) => {
  const team = `/teams/${crew.id}`
  for (const variant of ['self-hosted', 'versioned'] as const) {
    await assertDocumented(ada, variant, [
      ['users/list', 'get', '/users'],
      ['orgs/list', 'get', '/organizations'],
      ['users/get-by-username', 'get', `/user/${(await ada.read('/user')).id}`],
      ['teams/get-legacy', 'get', team],
      ['teams/update-legacy', 'patch', team, { name: `Crew of ${variant}` }],
      ['teams/list-members-legacy', 'get', `${team}/members`],
      ['teams/list-repos-legacy', 'get', `${team}/repos`],
      ['teams/get-membership-for-user-legacy', 'get', `${team}/memberships/ben`],
      ['teams/create', 'post', '/orgs/acme/teams', { name: variant, repo_names: ['acme/engine'] }],
    ])
  }
}))
