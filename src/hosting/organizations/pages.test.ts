import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

/** An organization of Ada's, with Ben in it and Eve outside. */
async function open() {
  const forge = await openForge()
  const [ada, ben, eve] = [await forge.person('ada'), await forge.person('ben'), await forge.person('eve')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  const [owner, member, outsider] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ben'), await signedIn(forge, 'eve')]
  return Object.assign(forge, { ada, ben, eve, owner, member, outsider })
}

const hostile = '"><img src=x onerror=alert(1)>'

test('a user creates an organization and owns it', async () => {
  await using forge = await open()
  const { outsider, eve } = forge
  const made = await outsider.fillAndFollow('/organizations/new', { login: 'mill', name: hostile, description: 'Grain' })
  assert.match(made.text, /mill is created/)
  assert.partialDeepStrictEqual(await eve.read('/user/memberships/orgs/mill'), { role: 'admin' })
  assert.partialDeepStrictEqual(await eve.read('/orgs/mill'), { name: hostile, description: 'Grain' })
  for (const login of ['mill', 'ada', '', 'a--b', 'settings', '\0']) {
    const again = await outsider.post('/organizations/new', { login, name: 'Kept' })
    assert.equal(again.status, 422, login)
    assert.match(again.text, /role="alert"/)
    assert.match(again.text, /value="Kept"/)
  }
  assert.equal((await outsider.get('/orgs/mill')).location, '/mill')
  assert.deepEqual(errorsOf(forge), [])
})

test('everyone sees public members and repositories, members see all', async () => {
  await using forge = await open()
  const { owner, member, ada } = forge
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'open', description: hostile }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const guest = new Guest(forge)
  const seen = await guest.get('/orgs/acme/people')
  assert.match(seen.text, /No member is public/)
  assert.doesNotMatch(seen.text, /href="\/ben"|Owner|\/orgs\/acme\/teams/)
  assert.match((await guest.get('/orgs/ACME/repositories')).text, /<strong>open<\/strong>/)
  assert.doesNotMatch((await guest.get('/orgs/acme/repositories')).text, /plans|<img src=x/)
  assert.match((await member.get('/orgs/acme/repositories')).text, /plans/)
  await member.fill('/orgs/acme/people', { public: 'yes' }, '/orgs/acme/people/visibility')
  assert.match((await guest.get('/orgs/acme/people')).text, /href="\/ben"/)
  assert.doesNotMatch((await guest.get('/orgs/acme/people')).text, /href="\/ada"/)
  const found = await owner.get('/orgs/acme/people?q=BE')
  assert.match(found.text, /href="\/ben"/)
  assert.match(found.text, /Owner|Member/)
  for (const path of ['/orgs/nowhere/people', '/orgs/ada/people', '/orgs/%00/people', '/orgs/nowhere']) {
    assert.equal((await guest.get(path)).status, 404, path)
  }
})

test('repositories are found, narrowed and sorted', async () => {
  await using forge = await open()
  const { ada, member } = forge
  for (const name of ['alpha', 'beta', 'gamma']) await expect(201, await ada.post('/orgs/acme/repos', { name }))
  await expect(200, await ada.patch('/repos/acme/beta', { archived: true }))
  const names = async (query: string) => {
    const { text } = await member.get(`/orgs/acme/repositories?${query}`)
    return [...text.matchAll(/<strong>(alpha|beta|gamma)<\/strong>/g)].map(([, name]) => name)
  }
  assert.deepEqual(await names('sort=name'), ['alpha', 'beta', 'gamma'])
  assert.deepEqual(await names('q=AMM'), ['gamma'])
  assert.deepEqual(await names('type=archived'), ['beta'])
  assert.deepEqual(await names('type=constructor&sort=x&page=0&language=Rust'), [])
  assert.match((await member.get('/orgs/acme/repositories?q=zzz')).text, /<strong>0<\/strong> repositories match/)
  assert.deepEqual(await names('q=%00'), ['gamma', 'beta', 'alpha'])
})

test('owners add members, change roles and remove them', async () => {
  await using forge = await open()
  const { owner, member, outsider, ada } = forge
  assert.match(
    (await owner.fillAndFollow('/orgs/acme/people', { login: 'eve', role: 'member' })).text,
    /eve is a member of acme now/,
  )
  await owner.post('/orgs/acme/people', { login: 'eve', role: 'admin' })
  assert.equal((await ada.read('/orgs/acme/memberships/eve')).role, 'admin')
  const unknown = await owner.post('/orgs/acme/people', { login: hostile, role: 'member' })
  assert.equal(unknown.status, 422)
  assert.ok(!unknown.text.includes(hostile))
  assert.equal((await owner.post('/orgs/acme/people', { login: 'acme' })).status, 422)
  for (const path of ['', '/remove'])
    assert.equal((await member.fill('/orgs/acme/people', { login: 'eve' }, `/orgs/acme/people${path}`)).status, 403)
  await owner.post('/orgs/acme/people/remove', { login: 'eve' })
  assert.equal((await outsider.fill('/orgs/acme/people', { login: 'ben' }, '/orgs/acme/people/remove')).status, 404)
  const last = await owner.post('/orgs/acme/people/remove', { login: 'ada' })
  assert.match(last.text, /ada is the last owner of acme/)
  assert.equal((await member.fillAndFollow('/orgs/acme/people', { login: 'ben' }, '/orgs/acme/people/remove')).status, 200)
  assert.equal((await ada.get('/orgs/acme/members/ben')).status, 404)
  assert.deepEqual(errorsOf(forge), [])
})

test('owners change the profile and the name', async () => {
  await using forge = await open()
  const { owner, member, outsider, ada } = forge
  const path = '/organizations/acme/settings/profile'
  assert.equal((await member.get(path)).status, 403)
  assert.equal((await outsider.get(path)).status, 404)
  const saved = await owner.fillAndFollow(path, {
    name: 'Acme',
    bio: hostile,
    email: '',
    blog: 'https://acme.example',
    location: '',
    member_access: 'write',
  })
  assert.match(saved.text, /The settings are saved/)
  assert.ok(saved.text.includes('/organizations/acme/settings/hooks') && !saved.text.includes(hostile))
  assert.partialDeepStrictEqual(await ada.read('/orgs/acme'), { name: 'Acme', default_repository_permission: 'write' })
  const wrong = await owner.post(path, { name: 'Kept', email: 'nonsense' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /value="Kept"/)
  assert.equal((await owner.post('/organizations/acme/settings/rename', { login: 'ada' })).status, 422)
  assert.match((await owner.postAndFollow('/organizations/acme/settings/rename', { login: 'anvil' })).text, /called anvil now/)
  assert.deepEqual(errorsOf(forge), [])
})

test('an invited user joins or declines', async () => {
  await using forge = await open()
  const { owner, outsider, ada } = forge
  const path = '/orgs/acme/invitation'
  assert.equal((await outsider.get(path)).status, 404)
  assert.match(
    (await owner.fillAndFollow('/orgs/acme/people', { login: 'eve', role: 'admin', how: 'invite' })).text,
    /eve is invited/,
  )
  assert.match((await owner.get('/orgs/acme/people')).text, /aria-label="Cancel the invitation of eve"/)
  assert.doesNotMatch((await outsider.get('/orgs/acme/people')).text, /Cancel the invitation/)
  assert.match((await owner.post('/orgs/acme/people', { login: 'eve', how: 'invite' })).text, /There is an invitation already/)
  assert.match((await outsider.get('/acme')).text, /You are invited to join acme/)
  assert.match((await outsider.get('/settings/organizations')).text, /Answer the invitation to acme/)
  assert.match((await outsider.fillAndFollow(path, { answer: 'decline' })).text, /You declined/)
  assert.equal((await outsider.post(path, { answer: 'accept' })).status, 404)
  await owner.fill('/orgs/acme/people', { login: 'eve', how: 'invite' })
  assert.match((await outsider.fillAndFollow(path, { answer: 'accept' })).text, /You are a member of acme now/)
  assert.equal((await ada.read('/orgs/acme/memberships/eve')).role, 'member')
  assert.equal((await outsider.get(path)).location, '/acme')
  assert.match((await outsider.get('/settings/organizations')).text, /Leave acme/)
  for (const id of ['1', 'x', '']) assert.equal((await owner.post('/orgs/acme/people/cancel', { id })).status, 404)
  assert.equal((await outsider.fill('/orgs/acme/people', { id: '1' }, '/orgs/acme/people/cancel')).status, 403)
  assert.deepEqual(errorsOf(forge), [])
})
