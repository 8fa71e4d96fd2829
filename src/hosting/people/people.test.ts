import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, injecting, openForge } from '#test/forge.ts'

const inject = injecting(openForge)
const logins = (people: { login: string }[]) => people.map((person) => person.login)

test('logins are case-insensitive', inject(async ({ person, nobody }) => {
  await person('Ada')
  assert.equal((await nobody.read('/users/aDA')).login, 'Ada')
  assert.equal((await nobody.get('/users/nobody-here')).status, 404)
}))

test('users and organizations share one name space', inject(async ({ person, organization, admin, nobody }) => {
  const ada = await person('ada')
  await organization('Acme', ada)
  const user = await expect(422, await admin.post('/admin/users', { login: 'ACME', email: 'other@example.com' }))
  assert.equal(user.message, 'Validation Failed')
  assert.partialDeepStrictEqual(user.errors, [{ resource: 'User', code: 'already_exists', field: 'login' }])
  const org = await expect(422, await admin.post('/admin/organizations', { login: 'ADA', admin: 'ada' }))
  assert.partialDeepStrictEqual(org.errors, [{ resource: 'Organization', code: 'already_exists', field: 'login' }])
  assert.equal((await nobody.read('/users/acme')).type, 'Organization')
  assert.equal((await nobody.get('/orgs/ada')).status, 404)
}))

test('a verified e-mail address is unique, ignoring case', inject(async ({ person, admin }) => {
  await person('ada')
  const refused = await expect(422, await admin.post('/admin/users', { login: 'eve', email: 'ADA@example.com' }))
  assert.partialDeepStrictEqual(refused.errors, [{ code: 'already_exists', field: 'email' }])
}))

test('invalid characters of a login become hyphens', inject(async ({ admin }) => {
  const made = async (login: string) =>
    (await expect(201, await admin.post('/admin/users', { login, email: `${login.length}@example.com` }))).login
  assert.equal(await made('octo_cat'), 'octo-cat')
  assert.equal(await made('_Mona Lisa (she)_'), 'Mona-Lisa-she')
  assert.equal(await made('x'.repeat(39)), 'x'.repeat(39))
}))

test('a login that is too long, empty or reserved is refused', inject(async ({ admin, nobody }) => {
  for (const [login, code] of [
    ['x'.repeat(40), 'invalid'],
    ['___', 'invalid'],
    ['settings', 'custom'],
    ['API', 'custom'],
    ['repositories', 'custom'],
  ] as const) {
    const { errors } = await expect(422, await admin.post('/admin/users', { login, email: 'someone@example.com' }))
    assert.partialDeepStrictEqual(errors, [{ resource: 'User', code, field: 'login' }], login)
  }
  const { errors } = await expect(422, await admin.post('/admin/organizations', { login: 'orgs', admin: 'admin' }))
  assert.partialDeepStrictEqual(errors, [{ resource: 'Organization', code: 'custom', field: 'login' }])
  assert.equal((await admin.post('/admin/users', { login: 'ada', email: 'no address' })).status, 422)
  assert.equal((await nobody.get('/users/settings')).status, 404)
}))

test('only its owner sees an e-mail address', inject(async ({ person, nobody }) => {
  const [ada, ben] = [await person('ada'), await person('ben')]
  assert.equal((await ada.read('/user')).email, 'ada@example.com')
  assert.equal((await ben.read('/users/ada')).email, null)
  assert.equal((await nobody.read('/users/ada')).email, null)
  assert.equal((await ada.read('/users/ada')).email, null)
}))

test('private fields need the scope read:user', inject(async ({ person, tokenFor, nobody }) => {
  const ada = await person('ada')
  await ada.owns('diary', { private: true })
  await ada.owns('engine')
  const [full, bare] = [await ada.read('/user'), await (await tokenFor('ada', ['repo'])).read('/user')]
  assert.partialDeepStrictEqual(full, { login: 'ada', total_private_repos: 1, owned_private_repos: 1, public_repos: 1 })
  assert.equal(typeof full.plan.name, 'string')
  assert.equal(bare.email, null)
  assert.equal(bare.public_repos, 1)
  for (const field of ['plan', 'total_private_repos', 'disk_usage', 'two_factor_authentication']) {
    assert.ok(field in full)
    assert.ok(!(field in bare), field)
  }
  assert.ok('plan' in (await (await tokenFor('ada', ['read:user'])).read('/user')))
  const anonymous = await expect(401, await nobody.get('/user'))
  assert.equal(anonymous.message, 'Requires authentication')
}))

test('a profile update changes only the given fields', inject(async ({ person, clock, nobody, tokenFor }) => {
  const ada = await person('ada')
  const changes = { name: 'Ada Lovelace', company: 'Engines', blog: 'https://ada.example', location: 'London', hireable: true }
  clock.advance(60_000)
  const changed = await expect(200, await ada.patch('/user', changes))
  assert.partialDeepStrictEqual(changed, { ...changes, email: 'ada@example.com', updated_at: '2026-02-03T04:06:06Z' })
  await expect(200, await ada.patch('/user', { company: null, bio: 'Numbers', twitter_username: 'ada' }))
  assert.partialDeepStrictEqual(await nobody.read('/users/ada'), {
    ...changes,
    company: null,
    bio: 'Numbers',
    twitter_username: 'ada',
  })
  assert.equal((await ada.patch('/user', { email: 'nowhere' })).status, 422)
  assert.equal((await ada.patch('/user', { hireable: 'yes' })).status, 422)
  assert.equal((await (await tokenFor('ada', ['read:user'])).patch('/user', { name: 'Eve' })).status, 403)
}))

test('an empty e-mail address means none, for any number of users', inject(async ({ person }) => {
  const [ada, ben] = [await person('ada'), await person('ben')]
  assert.equal((await expect(200, await ada.patch('/user', { email: '' }))).email, null)
  assert.equal((await expect(200, await ben.patch('/user', { email: '' }))).email, null)
}))

test('concurrent changes of a profile are all kept', inject(async ({ person }) => {
  const ada = await person('ada')
  const changes = { name: 'Ada', company: 'Engines', blog: 'b', location: 'London', bio: 'Numbers', twitter_username: 'ada' }
  const parts = Object.entries(changes).map(([field, value]) => ada.patch('/user', { [field]: value }))
  for (const answer of await Promise.all(parts)) assert.equal(answer.status, 200)
  assert.partialDeepStrictEqual(await ada.read('/user'), changes)
}))

test('following twice changes nothing, and users cannot follow themselves', inject(async ({ person, nobody }) => {
  const [ada, ben] = [await person('ada'), await person('ben')]
  assert.equal((await ada.get('/user/following/ben')).status, 404)
  assert.equal((await ada.put('/user/following/ben')).status, 204)
  assert.equal((await ada.put('/user/following/ben')).status, 204)
  assert.equal((await ada.get('/user/following/ben')).status, 204)
  assert.equal((await nobody.get('/users/ada/following/ben')).status, 204)
  assert.equal((await nobody.get('/users/ben/following/ada')).status, 404)
  assert.deepEqual(logins(await ben.read('/user/followers')), ['ada'])
  assert.deepEqual(logins(await ada.read('/user/following')), ['ben'])
  assert.deepEqual(logins(await nobody.read('/users/ada/following')), ['ben'])
  assert.partialDeepStrictEqual(await nobody.read('/users/ben'), { followers: 1, following: 0 })
  assert.partialDeepStrictEqual(await nobody.read('/users/ada'), { followers: 0, following: 1 })
  assert.equal((await ada.put('/user/following/ada')).status, 422)
  assert.equal((await ada.put('/user/following/nobody-here')).status, 404)
  assert.equal((await nobody.put('/user/following/ben')).status, 401)
  assert.equal((await ada.delete('/user/following/ben')).status, 204)
  assert.equal((await ada.delete('/user/following/ben')).status, 204)
  assert.deepEqual(await nobody.read('/users/ben/followers'), [])
}))

test('followers are paged, oldest first', inject(async (forge) => {
  await forge.person('ada')
  for (const login of ['zoe', 'ben', 'eve']) {
    forge.clock.advance(1000)
    await (await forge.person(login)).put('/user/following/ada')
  }
  const first = await forge.nobody.get('/users/ada/followers?per_page=2')
  const address = `${forge.web}/api/v3/users/ada/followers?per_page=2&page=`
  assert.equal(first.headers.get('link'), `<${address}2>; rel="next", <${address}2>; rel="last"`)
  assert.deepEqual(logins((await first.json()) as { login: string }[]), ['zoe', 'ben'])
  const second = await forge.nobody.get('/users/ada/followers?per_page=2&page=2')
  assert.equal(second.headers.get('link'), `<${address}1>; rel="prev", <${address}1>; rel="first"`)
  assert.deepEqual(logins((await second.json()) as { login: string }[]), ['eve'])
  const versioned = await forge.nobodyVersioned.get('/users/ada/followers?per_page=2')
  assert.match(versioned.headers.get('link') ?? '', new RegExp(`^<${forge.versioned}/users/ada/followers\\?per_page=2&page=2>`))
  assert.deepEqual(await forge.nobody.read('/users/ada/followers?page=9'), [])
}))

test('links in bodies use the base of the requested variant', inject(async (forge) => {
  await forge.person('ada')
  const [here, there] = [await forge.nobody.read('/users/ada'), await forge.nobodyVersioned.read('/users/ada')]
  assert.equal(here.url, `${forge.web}/api/v3/users/ada`)
  assert.equal(there.url, `${forge.versioned}/users/ada`)
  assert.equal(here.html_url, `${forge.web}/ada`)
  assert.equal(there.html_url, here.html_url)
  for (const [field, value] of Object.entries<unknown>(there)) {
    if (!field.endsWith('_url') || typeof value !== 'string') continue
    assert.ok(value.startsWith(['html_url', 'avatar_url'].includes(field) ? forge.web : forge.versioned), `${field}: ${value}`)
  }
}))
