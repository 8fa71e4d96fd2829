import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, expect, openForge } from '#test/forge.ts'
import { type Guest, signedIn } from '#test/guest.ts'

const hostile = '"><img src=x onerror=alert(1)>'

/** Ada owns an organization and two private repositories; Ben is invited to all of them. */
async function open() {
  const forge = await openForge()
  const [ada, ben, eve] = [await forge.person('ada'), await forge.person('ben'), await forge.person('eve')]
  const org = await forge.organization('acme', ada)
  await expect(200, await ada.patch('/orgs/acme', { name: hostile }))
  const { id } = await ben.read('/user')
  await expect(201, await ada.post('/orgs/acme/invitations', { invitee_id: id, role: 'admin' }))
  for (const name of ['engine', 'mill']) {
    await ada.owns(name, { private: true })
    await expect(201, await ada.put(`/repos/ada/${name}/collaborators/ben`, { permission: 'pull' }))
  }
  return Object.assign(forge, {
    ada,
    ben,
    eve,
    org,
    visitor: await signedIn(forge, 'ben'),
    outsider: await signedIn(forge, 'eve'),
  })
}

/** What the box on a page invites to. */
async function invitationsOn(guest: Guest, path: string) {
  const { status, text } = await guest.get(path)
  assert.equal(status, 200)
  assert.ok(!text.includes('<img src=x'))
  return [...text.matchAll(/aria-label="Accept the invitation to ([^"]+)"/g)].map(([, name]) => name)
}

const back = { return_to: '/' }

test('an invited user accepts and declines on the first page', async () => {
  await using forge = await open()
  const { visitor, outsider, ben } = forge
  for (const path of ['/', '/notifications', '/notifications?view=done']) {
    assert.deepEqual(await invitationsOn(visitor, path), ['acme', 'ada/engine', 'ada/mill'], path)
    assert.deepEqual(await invitationsOn(outsider, path), [], path)
  }
  const joined = await visitor.fill('/', { answer: 'accept', ...back }, '/orgs/acme/invitation')
  assert.equal(joined.status, 303)
  assert.match(joined.location ?? '', /^\/\?flash=/)
  assert.match((await visitor.get(joined.location ?? '')).text, /You are a member of acme now/)
  assert.partialDeepStrictEqual(await ben.read('/user/memberships/orgs/acme'), { state: 'active', role: 'admin' })
  const accepted = await visitor.postAndFollow('/ada/engine/invitations', { answer: 'accept', ...back })
  assert.match(accepted.text, /You are a collaborator of ada\/engine now/)
  const declined = await visitor.postAndFollow('/ada/mill/invitations', { answer: 'decline', ...back })
  assert.match(declined.text, /You declined the invitation to ada\/mill/)
  assert.deepEqual(await invitationsOn(visitor, '/'), [])
  assert.equal((await ben.get('/repos/ada/engine')).status, 200)
  assert.equal((await ben.get('/repos/ada/mill')).status, 404)
  assert.deepEqual(errorsOf(forge), [])
})

test('an answer in the inbox leads back to the same view, with a message', async () => {
  await using forge = await open()
  const { visitor, ben } = forge
  const { text } = await visitor.get('/notifications?view=all')
  assert.ok(text.includes('name="return_to" value="/notifications?view=all"'))
  const here = { return_to: '/notifications?view=all' }
  const declined = await visitor.post('/orgs/acme/invitation', { answer: 'decline', ...here })
  assert.match(declined.location ?? '', /^\/notifications\?view=all&flash=/)
  assert.match((await visitor.get(declined.location ?? '')).text, /You declined the invitation to acme/)
  const unread = async () =>
    (await ben.read('/notifications')).map((thread: { repository: { full_name: string } }) => thread.repository.full_name)
  assert.deepEqual((await unread()).sort(), ['ada/engine', 'ada/mill'])
  await visitor.post('/ada/engine/invitations', { answer: 'accept', ...here })
  assert.deepEqual(await unread(), ['ada/mill'], 'an accepted invitation is read')
  const elsewhere = await visitor.post('/ada/mill/invitations', { answer: 'decline', return_to: '//evil.example' })
  assert.match(elsewhere.location ?? '', /^\/\?flash=/)
  assert.deepEqual(errorsOf(forge), [])
})

test('an expired, cancelled or foreign invitation is not shown and cannot be accepted', async () => {
  await using forge = await open()
  const { visitor, outsider, ada, clock } = forge
  for (const path of ['/orgs/acme/invitation', '/ada/engine/invitations'])
    assert.equal((await outsider.fill('/', { answer: 'accept', ...back }, path)).status, 404, path)
  const [{ id }] = await ada.read('/orgs/acme/invitations')
  await expect(204, await ada.delete(`/orgs/acme/invitations/${id}`))
  assert.deepEqual(await invitationsOn(visitor, '/'), ['ada/engine', 'ada/mill'])
  assert.equal((await visitor.post('/orgs/acme/invitation', { answer: 'accept', ...back })).status, 404)
  clock.advance(8 * 86_400_000)
  assert.deepEqual(await invitationsOn(await signedIn(forge, 'ben'), '/'), [])
  assert.deepEqual(errorsOf(forge), [])
})
