import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { type Guest, makeToken, signedIn } from '#test/guest.ts'

const page = '/settings/tokens/fine-grained'

const make = (forge: Forge, visitor: Guest, owner: string, fields: Record<string, string | string[]>) =>
  makeToken(forge, visitor, 'ada', `${page}?owner=${owner}`, { owner, ...fields })

/** Ada in two organizations, one of them hers, each with a private repository. */
async function openOrganizations() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await forge.organization('bolt', ben)
  await expect(200, await ben.put('/orgs/bolt/memberships/ada', { role: 'member' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine', private: true }))
  await expect(201, await ben.post('/orgs/bolt/repos', { name: 'nuts', private: true }))
  return Object.assign(forge, { ada, ben, visitor: await signedIn(forge, 'ada') })
}

const events = (org: string) => `/users/ada/events/orgs/${org}`

test('the Events permission of an organization opens its dashboard, and nothing else does', async () => {
  await using forge = await openOrganizations()
  const { visitor, ada } = forge
  const reader = await make(forge, visitor, 'acme', { 'permission:organization_events': 'read' })
  const names = (await reader.read(events('acme'))).map(({ repo }: { repo: { name: string } }) => repo.name)
  assert.deepEqual(names, ['acme/engine'])
  assert.equal((await reader.versioned.get(events('acme'))).status, 200)
  const refused = await expect(403, await reader.get(events('bolt')))
  assert.equal(refused.message, 'Resource not accessible by personal access token')
  for (const bare of [
    await make(forge, visitor, 'acme', { 'permission:members': 'write', 'permission:contents': 'read' }),
    await make(forge, visitor, 'ada', { 'permission:events': 'read', 'permission:organization_events': 'read' }),
  ]) {
    await expect(403, await bare.get(events('acme')))
  }
  assert.equal((await ada.get(events('acme'))).status, 200, 'other tokens need no such permission')
  await expect(404, await reader.get('/users/ben/events/orgs/acme'))
})

test('permissions on an organization are for that organization', async () => {
  await using forge = await openOrganizations()
  const { visitor } = forge
  const members = await make(forge, visitor, 'acme', { 'permission:members': 'write' })
  assert.equal((await members.read('/orgs/acme/members')).length, 1)
  assert.deepEqual(await members.read('/orgs/bolt/members'), [], 'elsewhere it sees what is public')
  await expect(200, await members.put('/orgs/acme/memberships/ben', { role: 'member' }))
  await expect(403, await members.get('/orgs/bolt/memberships/ada'))
  await expect(403, await members.get('/orgs/bolt/teams'))
  await expect(403, await members.get('/orgs/acme/hooks'))
  await expect(403, await members.patch('/orgs/acme', { name: 'No' }))
  const admin = await make(forge, visitor, 'acme', { 'permission:organization_administration': 'write' })
  await expect(200, await admin.patch('/orgs/acme', { name: 'Acme' }))
  const hooks = await make(forge, visitor, 'acme', { 'permission:organization_hooks': 'read' })
  assert.deepEqual(await hooks.read('/orgs/acme/hooks'), [])
})

test('a token for an organization reaches its repositories, and nothing of the user’s own', async () => {
  await using forge = await openOrganizations()
  const { visitor, ada } = forge
  await ada.owns('private', { private: true })
  const token = await make(forge, visitor, 'acme', {
    'permission:administration': 'write',
    'permission:profile': 'write',
    'permission:starring': 'write',
  })
  assert.equal((await token.get('/repos/acme/engine')).status, 200)
  for (const path of ['/repos/ada/private', '/repos/bolt/nuts']) await expect(404, await token.get(path))
  await expect(201, await token.post('/orgs/acme/repos', { name: 'new' }))
  await expect(403, await token.post('/orgs/bolt/repos', { name: 'new' }))
  await expect(403, await token.post('/user/repos', { name: 'new' }))
  await expect(403, await token.patch('/user', { name: 'No' }))
  await expect(403, await token.put('/user/starred/acme/engine'))
  await expect(403, await token.post('/repos/acme/engine/forks', {}))
  const own = await make(forge, visitor, 'ada', { 'permission:administration': 'write' })
  await expect(403, await own.post('/orgs/acme/repos', { name: 'other' }))
  await ada.owns('open')
  await expect(403, await own.post('/repos/ada/open/forks', { organization: 'acme' }))
  await expect(202, await token.post('/repos/ada/open/forks', { organization: 'acme' }))
})

test('the page offers the organizations that somebody belongs to, their repositories and permissions', async () => {
  await using forge = await openOrganizations()
  const { visitor, ben, ada } = forge
  await forge.organization('other', ben)
  const own = (await visitor.get(page)).text
  for (const name of ['ada', 'acme', 'bolt']) assert.ok(own.includes(`<option value="${name}"`), name)
  assert.ok(!own.includes('<option value="other"') && !own.includes('permission:organization_events'))
  const { text } = await visitor.get(`${page}?owner=acme`)
  assert.match(text, /<option value="acme" selected/)
  assert.ok(text.includes('permission:organization_events') && text.includes('engine') && !text.includes('permission:starring'))
  for (const owner of ['other', 'nowhere', 'ben']) {
    assert.equal((await visitor.get(`${page}?owner=${owner}`)).status, 404)
    assert.equal((await visitor.fill(page, { owner, note: 'x', reach: 'all' })).status, 404)
  }
  const nuts = await ada.read('/repos/bolt/nuts')
  const chosen = await make(forge, visitor, 'bolt', { note: 'chosen', reach: 'some', repositories: String(nuts.id) })
  assert.equal((await chosen.get('/repos/bolt/nuts')).status, 200)
  assert.match((await visitor.get(page)).text, /bolt: nuts/)
  const foreign = { owner: 'acme', note: 'x', reach: 'some', repositories: String(nuts.id) }
  assert.equal((await visitor.fill(page, foreign)).status, 422)
  await expect(204, await ben.delete('/orgs/bolt/members/ada'))
  await expect(404, await chosen.get('/repos/bolt/nuts'))
})
