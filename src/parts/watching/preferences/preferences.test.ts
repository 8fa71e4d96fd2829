import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

test('users choose which repositories they watch without having chosen to', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const browser = await signedIn(forge, 'ada')
  const watches = async (path: string) => (await ada.get(`/repos/${path}/subscription`)).status
  await ada.owns('watched')
  assert.equal(await watches('ada/watched'), 200)
  assert.match(
    (await browser.get('/settings/notifications')).text,
    /name="created" value="on" checked>.*name="given" value="on" checked>/s,
  )
  const saved = await browser.postAndFollow('/settings/notifications', {})
  assert.match(saved.text, /Your preferences are saved/)
  assert.equal(saved.text.includes('checked>'), false)

  await ada.owns('quiet')
  await ben.owns('given')
  await expect(201, await ben.put('/repos/ben/given/collaborators/ada', { permission: 'push' }))
  const [invitation] = await ada.read('/user/repository_invitations')
  await expect(204, await ada.patch(`/user/repository_invitations/${invitation.id}`))
  await forge.organization('acme', ben)
  await expect(200, await ben.put('/orgs/acme/memberships/ada', { role: 'admin' }))
  await expect(201, await ben.post('/orgs/acme/repos', { name: 'shared' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'mine' }))
  for (const path of ['ada/quiet', 'ben/given', 'acme/shared', 'acme/mine']) assert.equal(await watches(path), 404, path)
  assert.equal(await watches('ada/watched'), 200)

  await browser.postAndFollow('/settings/notifications', { created: 'on' })
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'second' }))
  await expect(201, await ben.post('/orgs/acme/repos', { name: 'third' }))
  assert.deepEqual([await watches('acme/second'), await watches('acme/third')], [200, 404])
})
