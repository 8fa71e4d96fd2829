import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiGroups } from '#app.ts'
import { expandScopes } from '#identity/scopes.ts'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { type Guest, makeToken, openAsAda, signedIn } from '#test/guest.ts'

const classic = '/settings/tokens'
const fineGrained = '/settings/tokens/fine-grained'
const day = 24 * 3600_000

const make = (forge: Forge, visitor: Guest, path: string, fields: Record<string, string | string[]>) =>
  makeToken(forge, visitor, 'ada', path, fields)
const idsIn = (text: string) => [...text.matchAll(/\/delete\?id=(\d+)"/g)].map(([, id = '']) => id)

test('a classic token is shown once, has its scopes, and is deleted at once', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const holder = await make(forge, ada, classic, {
    note: 'for <tests>',
    days: '',
    scopes: ['read:user', 'user', 'gist', 'nonsense'],
  })
  assert.match(holder.token, /^bfp_/)
  assert.match((await ada.get(classic)).text, /for &lt;tests&gt;[\s\S]*?gist, user[\s\S]*?never used[\s\S]*?does not expire/)
  const answer = await holder.get('/user')
  assert.equal(answer.headers.get('x-oauth-scopes'), 'gist, user')
  await expect(403, await holder.post('/user/repos', { name: 'engine' }))
  const { text } = await ada.get(classic)
  assert.ok(!text.includes(holder.token))
  assert.match(text, /last used <time/)
  const [id = ''] = idsIn(text)
  assert.match((await ada.postAndFollow(`${classic}/delete`, { id })).text, /The token is deleted/)
  await expect(401, await holder.get('/user'))
})

test('a token ends on its day', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const holder = await make(forge, ada, classic, { note: 'a week', days: '7', scopes: 'user' })
  const fine = await make(forge, ada, fineGrained, { note: 'a month', days: '30', reach: 'all' })
  forge.clock.advance(7 * day - 1)
  assert.equal((await holder.get('/user')).status, 200)
  forge.clock.advance(1)
  await expect(401, await holder.get('/user'))
  assert.match((await ada.get(classic)).text, /expired <time/)
  assert.equal((await fine.get('/user')).status, 200)
  forge.clock.advance(23 * day)
  await expect(401, await fine.get('/user'))
})

test('nobody deletes the tokens of others, or gives themselves what is the admin’s', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  await forge.person('eve')
  const [ada, eve] = [await signedIn(forge, 'ada'), await signedIn(forge, 'eve')]
  const [id = ''] = idsIn((await ada.get(classic)).text)
  for (const path of [classic, fineGrained]) {
    assert.equal((await eve.get(`${path}/delete?id=${id}`)).status, 404)
    assert.equal((await eve.fill(path, { id }, `${path}/delete`)).status, 404)
  }
  assert.equal((await api.get('/user')).status, 200)
  assert.ok(!(await eve.get(classic)).text.includes('site_admin'))
  const holder = await make(forge, eve, classic, { note: 'mine', days: '', scopes: ['site_admin', 'user'] })
  assert.equal((await holder.get('/user')).headers.get('x-oauth-scopes'), 'user')
})

test('the page offers the scopes of the spec and those that an endpoint asks for, and no others', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const { text } = await ada.get(classic)
  const offered = [...text.matchAll(/name="scopes" value="([^"]+)"/g)].map(([, name = '']) => name)
  const asked = apiGroups(forge.belfry).flatMap(({ endpoints }) => endpoints.flatMap(({ scopes = [] }) => scopes))
  const spec = ['repo', 'public_repo', 'gist', 'user', 'notifications', 'read:repo_hook', 'write:repo_hook']
  // Of the last, GET /user shows more.
  const known = new Set<string>([...spec, ...asked, 'read:user'])
  const useless = offered.filter((name) => ![...expandScopes([name])].some((held) => known.has(held)))
  assert.deepEqual(useless, [])
  const missing = [...known].filter((name) => name !== 'site_admin' && !offered.includes(name))
  assert.deepEqual(missing, [])
  assert.doesNotMatch((await ada.get('/settings/keys')).text, /over SSH/)
  // What clients send is accepted all the same.
  const holder = await make(forge, ada, classic, { note: 'packages', days: '', scopes: ['write:packages', 'admin:gpg_key'] })
  assert.equal((await holder.get('/user')).headers.get('x-oauth-scopes'), 'admin:gpg_key, write:packages')
})

test('a form that is wrong keeps what was chosen', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  const { id } = await api.owns('engine')
  const ada = await signedIn(forge, 'ada')
  const unnamed = await ada.fill(classic, { note: ' ', days: '90', scopes: 'gist' })
  assert.equal(unnamed.status, 422)
  assert.match(unnamed.text, /role="alert">Say in up to 200 characters/)
  assert.match(unnamed.text, /value="gist" checked/)
  assert.match(unnamed.text, /value="90" selected/)
  const none = await ada.fill(fineGrained, { note: 'kept', reach: 'some', 'permission:contents': 'write' })
  assert.match(none.text, /role="alert">Choose at least one repository/)
  assert.match(none.text, /value="kept"/)
  assert.match(none.text, /value="some" checked/)
  assert.match(none.text, /value="write" selected/)
  const eves = await (await forge.person('eve')).owns('secret', { private: true })
  const foreign = await ada.fill(fineGrained, { note: 'x', reach: 'some', repositories: [String(id), String(eves.id)] })
  assert.equal(foreign.status, 422)
})

test('the page says what reading metadata includes', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const guest = await signedIn(forge, 'ada')
  const { text } = await guest.get('/settings/tokens/fine-grained')
  assert.match(text, /Metadata includes the event timelines of the repositories: titles and texts/)
})

test('a fine-grained token sees the repositories that were chosen, and does what is permitted', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  const chosen = await api.owns('chosen', { private: true })
  await api.owns('other', { private: true })
  const ada = await signedIn(forge, 'ada')
  const fields = { note: 'reads one', days: '', reach: 'some', repositories: String(chosen.id) }
  const reader = await make(forge, ada, fineGrained, { ...fields, 'permission:contents': 'read' })
  assert.match(reader.token, /^bff_/)
  assert.equal((await reader.read('/repos/ada/chosen')).private, true)
  await expect(404, await reader.get('/repos/ada/other'))
  const refused = await expect(403, await reader.patch('/repos/ada/chosen', { description: 'no' }))
  assert.equal(refused.message, 'Resource not accessible by personal access token')
  const writer = await make(forge, ada, fineGrained, { ...fields, 'permission:administration': 'write' })
  await expect(200, await writer.patch('/repos/ada/chosen', { description: 'yes' }))
  await expect(404, await writer.patch('/repos/ada/other', { description: 'no' }))
  const all = await make(forge, ada, fineGrained, { note: 'all', days: '', reach: 'all' })
  await api.owns('later', { private: true })
  for (const name of ['chosen', 'other', 'later']) assert.equal((await all.get(`/repos/ada/${name}`)).status, 200)
  const { text } = await ada.get(fineGrained)
  assert.match(text, /chosen<br>[\s\S]*?contents: read/)
  assert.match(text, /All repositories/)
})

test('a fine-grained token sees no more of people and organizations than it is permitted', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  await forge.organization('acme', api)
  const ada = await signedIn(forge, 'ada')
  const fields = { note: 'bare', days: '', reach: 'all' }
  const bare = await make(forge, ada, fineGrained, fields)
  assert.equal((await bare.read('/user')).email, null)
  assert.deepEqual(await bare.read('/orgs/acme/members'), [])
  const reader = await make(forge, ada, fineGrained, { ...fields, note: 'reads', 'permission:profile': 'read' })
  assert.equal((await reader.read('/user')).email, 'ada@example.com')
  const members = await make(forge, ada, fineGrained, { ...fields, owner: 'acme', 'permission:members': 'read' })
  assert.equal((await members.read('/orgs/acme/members')).length, 1)
})
