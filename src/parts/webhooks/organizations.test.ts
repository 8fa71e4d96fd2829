import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fineGrained } from '#test/conversations.ts'
import { expect, openForge, type Person, pick } from '#test/forge.ts'
import { hookStatuses, url, waiting } from '#test/hooks.ts'
import { hookOn } from '#test/webhooks.ts'

const hooks = '/orgs/acme/hooks'

/** Ada's organization with the member Ben and the repository `acme/plans`. Cy is not a member. */
async function openAcme() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans' }))
  return Object.assign(forge, { ada, ben, cy })
}

test('an organization has hooks like a repository, from the first ping to the deletion', async () => {
  await using forge = await openAcme()
  const { ada } = forge
  const answer = await ada.post(hooks, { name: 'web', config: { url, secret: 'hidden' }, events: ['organization', 'team', '*'] })
  const location = answer.headers.get('location')
  const hook = await expect(201, answer)
  const self = `${ada.base}${hooks}/${hook.id}`
  assert.equal(location, self)
  assert.deepEqual(hook, {
    type: 'Organization',
    id: hook.id,
    name: 'web',
    active: true,
    events: ['organization', 'team', '*'],
    config: { content_type: 'form', insecure_ssl: '0', url },
    updated_at: '2026-02-03T04:05:06Z',
    created_at: '2026-02-03T04:05:06Z',
    url: self,
    ping_url: `${self}/pings`,
    deliveries_url: `${self}/deliveries`,
  })
  assert.deepEqual(await ada.read(hooks), [hook])
  assert.deepEqual(await ada.read(`${hooks}/${hook.id}`), hook)
  assert.equal((await ada.read(`${hooks}/${hook.id}/config`)).secret, '********')
  await expect(200, await ada.patch(`${hooks}/${hook.id}/config`, { content_type: 'json' }))
  const changed = await expect(200, await ada.patch(`${hooks}/${hook.id}`, { name: 'web', events: ['*'], config: { url } }))
  assert.deepEqual([changed.events, changed.config.content_type], [['*'], 'form'])
  assert.equal((await ada.read(`${hooks}/${hook.id}/config`)).secret, undefined)
  await expect(204, await ada.post(`${hooks}/${hook.id}/pings`))
  const pings = await waiting(forge, hook.id)
  assert.deepEqual(pick(pings, 'event', 'repo_id'), [
    ['ping', null],
    ['ping', null],
  ])
  const { payload } = pings[0] ?? assert.fail()
  assert.deepEqual(payload.hook, hook)
  assert.deepEqual([payload.organization.login, payload.sender.login, 'repository' in payload], ['acme', 'ada', false])
  await expect(204, await ada.delete(`${hooks}/${hook.id}`))
  assert.deepEqual(await ada.read(hooks), [])
  const [meta, ...more] = await waiting(forge, hook.id)
  assert.deepEqual([meta?.event, meta?.payload.action, meta?.payload.hook_id, more], ['meta', 'deleted', hook.id, []])
})

test('hooks of an organization get the events of its repositories, and outlive them', async () => {
  await using forge = await openAcme()
  const { ada } = forge
  const { id } = await hookOn(ada, 'orgs/acme', 'label')
  const own = await hookOn(ada, 'repos/acme/plans', 'label')
  await expect(201, await ada.post('/repos/acme/plans/labels', { name: 'dull', color: '000000' }))
  for (const hook_id of [id, own.id]) {
    const [ping, label] = await waiting(forge, hook_id)
    assert.deepEqual([ping?.event, label?.event], ['ping', 'label'])
    for (const one of [ping, label]) assert.equal(one?.payload.organization.login, 'acme')
  }
  await expect(204, await ada.delete('/repos/acme/plans'))
  assert.equal((await ada.read(`${hooks}/${id}`)).id, id)
})

test('hooks of organizations and repositories are separate', async () => {
  await using forge = await openAcme()
  const { ada } = forge
  await ada.owns('engine')
  await forge.organization('other', ada)
  const { id } = await expect(201, await ada.post(hooks, { config: { url } }))
  const { errors } = await expect(422, await ada.post(hooks, { config: { url } }))
  assert.deepEqual(errors, [{ resource: 'Hook', code: 'custom', message: 'Hook already exists on this organization' }])
  for (const place of ['repos/ada/engine', 'repos/acme/plans', 'orgs/other']) {
    await expect(404, await ada.get(`/${place}/hooks/${id}`))
    await expect(404, await ada.delete(`/${place}/hooks/${id}`))
    const other = await expect(201, await ada.post(`/${place}/hooks`, { config: { url } }))
    await expect(404, await ada.get(`${hooks}/${other.id}`))
  }
  const wrong = await expect(422, await ada.post(hooks, { config: { url }, events: ['workflow_dispatch', 'bell', 'team'] }))
  assert.equal(wrong.errors[0].message, 'These events are not allowed for this hook: workflow_dispatch, bell')
  const answers = await Promise.all(Array.from({ length: 4 }, () => ada.post(hooks, { config: { url: `${url}/new` } })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422])
})

test('only owners see the hooks of an organization, and only with a suitable token', async () => {
  await using forge = await openAcme()
  const { ada, ben, cy } = forge
  const { id } = await hookOn(ada, 'orgs/acme', 'push')
  const calls = (person: Person) => hookStatuses(person, hooks, id)
  for (const person of [ben, cy]) assert.deepEqual(await calls(person), Array(8).fill(404))
  const all = [200, 200, 200, 204, 422, 200, 200, 404]
  assert.deepEqual(await calls(ada), all)
  assert.deepEqual(await calls(await forge.tokenFor('ada', ['admin:org_hook'])), all)
  const other = await forge.tokenFor('ada', ['admin:repo_hook', 'repo', 'admin:org'])
  assert.deepEqual(await calls(other), Array(8).fill(403))
  assert.deepEqual(await calls(await fineGrained(forge, 'ada', { organization_hooks: 'write' }, 'acme')), all)
  const reading = await fineGrained(forge, 'ada', { organization_hooks: 'read', webhooks: 'write' }, 'acme')
  assert.deepEqual(await calls(reading), [200, 200, 200, 204, 403, 403, 403, 403])
  assert.equal((await forge.nobody.get(hooks)).status, 401)
  await expect(404, await ada.get('/orgs/nowhere/hooks'))
})
