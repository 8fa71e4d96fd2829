import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { expect, injecting, openForge, pick } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

/** Ada owns the organization `acme` with a public and a private repository, and Ben is a member. */
const inject = injecting(async () => {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  for (const name of ['engine', 'plans'])
    await expect(201, await ada.post('/orgs/acme/repos', { name, private: name === 'plans', auto_init: true }))
  return Object.assign(forge, { ada, ben })
})

test('nobody changes a suspended organization or its repositories, and reads go on', inject(async (forge) => {
  const { ada, ben, admin } = forge
  await expect(201, await ada.post('/repos/acme/engine/issues', { title: 'Before' }))
  await ben.owns('gift')
  await expect(204, await admin.put('/admin/organizations/acme/suspended', { reason: 'asked for it' }))
  const writes = {
    'opens an issue': () => ben.post('/repos/acme/engine/issues', { title: 'Meanwhile' }),
    'edits an issue': () => ada.patch('/repos/acme/engine/issues/1', { state: 'closed' }),
    'changes a repository': () => ada.patch('/repos/acme/engine', { description: 'New' }),
    'deletes a repository': () => ada.delete('/repos/acme/plans'),
    'adds a webhook': () => ada.post('/repos/acme/engine/hooks', { config: { url: 'https://hooks.example.com/' } }),
    'creates a repository': () => ada.post('/orgs/acme/repos', { name: 'other' }),
    'creates a team': () => ada.post('/orgs/acme/teams', { name: 'crew' }),
    'adds a member': () => ada.put('/orgs/acme/memberships/cleo'),
    'changes the organization': () => ada.patch('/orgs/acme', { name: 'Acme' }),
    'forks into it': () => ben.post('/repos/ben/gift/forks', { organization: 'acme' }),
    'transfers into it': () => ben.post('/repos/ben/gift/transfer', { new_owner: 'acme' }),
  }
  for (const [name, write] of Object.entries(writes)) {
    const { message } = await expect(403, await write())
    assert.match(message, /^The organization (acme )?is suspended, so/, name)
  }
  const remote = `${forge.web.replace('//', `//ada:${ada.token}@`)}/acme/plans.git`
  assert.match(await git(['ls-remote', remote]), /refs\/heads\/main/)
  const begin = await fetch(`${forge.web}/acme/plans.git/info/refs?service=git-receive-pack`, { headers: ada.headers })
  assert.equal(begin.status, 403)
  assert.match(await begin.text(), /suspended/)
  assert.deepEqual((await ada.read('/repos/acme/plans')).permissions.admin, false)
  assert.deepEqual(pick(await ben.read('/repos/acme/engine/issues'), 'title'), ['Before'])
  assert.deepEqual(pick(await ada.read('/orgs/acme/members'), 'login'), ['ada', 'ben'])
  await expect(200, await ben.put('/repos/acme/engine/subscription', { ignored: true }))
  await expect(204, await admin.delete('/admin/organizations/acme/suspended'))
  await expect(201, await ben.post('/repos/acme/engine/issues', { title: 'After' }))
  await expect(200, await ada.patch('/repos/acme/engine', { description: 'New' }))
}))

test('pages of a suspended organization say so, and refuse forms', inject(async (forge) => {
  const ada = await signedIn(forge, 'ada')
  await ada.get('/orgs/acme/people')
  await expect(204, await forge.admin.put('/admin/organizations/acme/suspended'))
  for (const path of ['/acme/engine', '/orgs/acme/people', '/organizations/acme/settings/profile'])
    assert.match((await ada.get(path)).text, /Suspended/, path)
  assert.doesNotMatch((await ada.get('/acme/engine')).text, /href="\/acme\/engine\/settings"/)
  for (const [path, fields] of [
    ['/orgs/acme/people', { login: 'cleo' }],
    ['/acme/engine/issues/new', { title: 'Meanwhile' }],
    ['/organizations/acme/settings/hooks/new', { url: 'https://hooks.example.com/' }],
    ['/new', { owner: 'acme', name: 'other' }],
  ] as const) {
    const { status, text } = await ada.post(path, fields)
    assert.ok(status >= 400, path)
    assert.match(text, /is suspended/, path)
  }
}))

test('only site admins suspend and delete organizations, and only organizations', inject(async ({ ada, admin, nobody }) => {
  for (const path of ['/admin/organizations/acme/suspended', '/admin/organizations/acme']) {
    await expect(404, await ada.delete(path))
    await expect(401, await nobody.delete(path))
  }
  await expect(404, await ada.put('/admin/organizations/acme/suspended'))
  await expect(404, await admin.put('/admin/organizations/ada/suspended'))
  await expect(204, await admin.delete('/admin/organizations/acme'))
  await expect(404, await admin.get('/orgs/acme'))
  await expect(404, await ada.get('/repos/acme/plans'))
  assert.deepEqual(await ada.read('/user/orgs'), [])
  const audit = await admin.read('/enterprises/belfry/audit-log?phrase=action:repo.deleted')
  assert.deepEqual(pick(audit, 'repo'), ['acme/plans', 'acme/engine'])
}))

test('a site admin suspends, renames and deletes an organization on its page', inject(async (forge) => {
  await forge.person('root')
  await expect(204, await forge.admin.put('/users/root/site_admin'))
  const root = await signedIn(forge, 'root')
  const place = '/site-admin/organizations'
  assert.match((await root.get(`${place}/acme`)).text, /ada[\s\S]*Owner[\s\S]*ben[\s\S]*Member/)
  await root.post(`${place}/acme`, { act: 'suspend' })
  assert.match((await root.get(place)).text, /acme[\s\S]*suspended/)
  await root.post(`${place}/acme`, { act: 'unsuspend' })
  assert.equal((await root.post(`${place}/acme`, { act: 'rename', new_login: 'apex' })).location?.split('?')[0], `${place}/apex`)
  assert.match((await root.post(`${place}/apex`, { act: 'delete', confirm: 'acme' })).text, /To confirm, type apex/)
  await root.post(`${place}/apex`, { act: 'delete', confirm: 'apex' })
  assert.equal((await forge.nobody.get('/orgs/apex')).status, 404)
  assert.equal((await root.get(`${place}/ada`)).status, 404)
  const entries = await forge.admin.read('/enterprises/belfry/audit-log?phrase=action:org')
  const before = ['org.rename', 'org.unsuspend', 'org.suspend', 'org.create']
  assert.deepEqual(pick(entries, 'action'), ['org.delete', 'org.suspend', ...before], 'a deletion begins with a suspension')
}))
