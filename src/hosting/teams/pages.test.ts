import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

/** An organization of Ada's, with Ben in it and Eve outside, and a repository. */
async function open() {
  const forge = await openForge()
  const [ada, ben, eve] = [await forge.person('ada'), await forge.person('ben'), await forge.person('eve')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const [owner, member, outsider] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ben'), await signedIn(forge, 'eve')]
  return Object.assign(forge, { ada, ben, eve, owner, member, outsider })
}

const core = '/orgs/acme/teams/core'

test('a member creates a team, which others may not see', async () => {
  await using forge = await open()
  const { owner, member, outsider } = forge
  assert.match((await member.get('/orgs/acme/teams')).text, /There are no teams yet/)
  const made = await member.fill('/orgs/acme/new-team', { name: 'Core', description: '<i>Inside</i>', privacy: 'secret' })
  assert.match(made.location ?? '', /^\/orgs\/acme\/teams\/core\?flash=/)
  const page = await member.get(core)
  assert.match(page.text, /<h1>Core<\/h1>/)
  assert.match(page.text, /&lt;i&gt;Inside/)
  assert.equal((await member.post('/orgs/acme/new-team', { name: 'core' })).status, 422)
  assert.match((await owner.get('/orgs/acme/teams')).text, /Core/)
  for (const visitor of [outsider, new Guest(forge)]) assert.equal((await visitor.get(core)).status, 404)
  for (const path of ['/orgs/acme/teams', '/orgs/acme/new-team', '/orgs/acme/teams/%00', `${core}/edit`]) {
    assert.equal((await outsider.get(path)).status, 404, path)
  }
})

test('maintainers add and remove members', async () => {
  await using forge = await open()
  const { owner, member, ada } = forge
  await owner.fill('/orgs/acme/new-team', { name: 'Core', privacy: 'closed' })
  assert.doesNotMatch((await member.get(core)).text, /Add a member/)
  assert.equal((await member.post(`${core}/members`, { login: 'ben' })).status, 403)
  assert.match(
    (await owner.fillAndFollow(core, { login: 'ben', role: 'maintainer' }, `${core}/members`)).text,
    /ben is a maintainer/,
  )
  const refused = await member.fill(core, { login: 'eve' }, `${core}/members`)
  assert.match(refused.text, /Only an owner can add people/)
  assert.equal((await member.post(`${core}/members`, { login: 'nobody' })).status, 422)
  await owner.post(`${core}/members`, { login: 'eve', role: 'member' })
  assert.equal((await ada.read(`${core}/memberships/eve`)).role, 'member')
  await member.post(`${core}/members/remove`, { login: 'eve' })
  assert.equal((await ada.get(`${core}/memberships/eve`)).status, 404)
  await member.post(`${core}/members/remove`, { login: 'ben' })
  assert.equal((await member.post(`${core}/members/remove`, { login: 'ada' })).status, 403)
  assert.deepEqual(errorsOf(forge), [])
})

test('a team gets repositories that its maintainer administers', async () => {
  await using forge = await open()
  const { owner, member, ada, ben } = forge
  await member.fill('/orgs/acme/new-team', { name: 'Core' })
  const hidden = await member.post(`${core}/repositories`, { name: 'plans', access: 'push' })
  const absent = await member.post(`${core}/repositories`, { name: 'absent', access: 'push' })
  for (const answer of [hidden, absent]) assert.match(answer.text, /Acme has no repository called|acme has no repository called/)
  assert.match(
    (await owner.fillAndFollow(`${core}/repositories`, { name: 'acme/plans', access: 'push' })).text,
    /access to plans now/,
  )
  assert.equal((await ben.read('/repos/acme/plans')).permissions.push, true)
  assert.match((await member.get(`${core}/repositories`)).text, /plans[\s\S]*Write/)
  await member.post(`${core}/repositories/remove`, { name: 'plans' })
  assert.equal((await ben.get('/repos/acme/plans')).status, 404)
  assert.equal((await ada.get('/repos/acme/plans')).status, 200)
  assert.deepEqual(errorsOf(forge), [])
})

test('a team is renamed and deleted', async () => {
  await using forge = await open()
  const { member, owner, ada } = forge
  await owner.fill('/orgs/acme/new-team', { name: 'Core', privacy: 'closed' })
  assert.equal((await member.get(`${core}/edit`)).status, 403)
  const saved = await owner.fill(`${core}/edit`, { name: 'Kernel', description: 'Deep', privacy: 'secret' })
  assert.match(saved.location ?? '', /^\/orgs\/acme\/teams\/kernel\/edit/)
  assert.partialDeepStrictEqual(await ada.read('/orgs/acme/teams/kernel'), { description: 'Deep', privacy: 'secret' })
  const refused = await owner.post('/orgs/acme/teams/kernel/edit', { name: '!!!', description: 'Kept' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /value="Kept"/)
  assert.match((await owner.postAndFollow('/orgs/acme/teams/kernel/delete', {})).text, /The team Kernel is deleted/)
  assert.equal((await ada.get('/orgs/acme/teams/kernel')).status, 404)
})
