import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { Contract } from '#test/activity/schemas.ts'
import { asApp, asInstallation, registerApp } from '#test/apps.ts'
import { expect, injecting, linesOf, openForge, pick, withPeople } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { signIn } from '#test/oauth.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { type Heard, heardOf, openReceiver } from '#test/webhooks.ts'

const wanted = {
  hook_attributes: { url: 'belfry:listen' },
  default_permissions: { issues: 'write', contents: 'read' },
  default_events: ['issues', 'issue_comment', 'push'],
  public: true,
}

/** Ada has two repositories and an app that listens. */
const open = injecting(async () => {
  const forge = await withPeople('ada', 'ben')()
  const { ada } = forge
  const [engine, secret] = [await ada.owns('engine', { auto_init: true }), await ada.owns('secret', { private: true })]
  const app = await registerApp(ada, wanted)
  const install = async (body = {}, person = ada) =>
    expect(201, await person.post('/user/installations', { app_slug: app.slug, ...body }))
  return Object.assign(forge, { app, install, engine, secret })
})

const said = (heard: Heard[]) => heard.map(({ event, payload }) => `${event} ${payload.action ?? ''}`.trim())

test(
  'an app is sent the events that it subscribes to, for the repositories that it is installed on',
  open(async ({ forge, app, ada, ben, install, engine }) => {
    const opened = (name: string) => ada.post(`/repos/ada/${name}/issues`, { title: 'Smoke' })
    assert.deepEqual(await heardOf(forge, () => opened('engine')), [], 'it is not installed')
    const installation = await install({ repository_ids: [engine.id] })
    const heard = await heardOf(forge, async () => {
      await opened('engine')
      await expect(201, await ada.post('/repos/ada/engine/labels', { name: 'hot' }))
      await opened('secret')
      await expect(204, await ada.put('/user/starred/ada/engine'))
    })
    assert.deepEqual(said(heard), ['issues opened'])
    assert.equal(heard[0]?.payload.installation.id, installation.id)
    for (const { event, payload } of heard) checkPayload(event, payload)

    const bot = await asInstallation(forge, app, installation)
    const [comment] = await heardOf(forge, () => bot.post('/repos/ada/engine/issues/1/comments', { body: 'Beep' }))
    assert.equal(comment?.payload.sender.type, 'Bot')
    checkPayload('issue_comment', comment?.payload)

    await ben.owns('boat')
    const other = await install({}, ben)
    const [elsewhere] = await heardOf(forge, () => ben.post('/repos/ben/boat/issues', { title: 'Leak' }))
    assert.equal(elsewhere?.payload.installation.id, other.id)

    const suspended = `/app/installations/${installation.id}/suspended`
    await expect(204, await asApp(forge, app).put(suspended))
    assert.deepEqual(await heardOf(forge, () => opened('engine')), [])
    await expect(204, await asApp(forge, app).delete(suspended))
    assert.deepEqual(said(await heardOf(forge, () => opened('engine'))), ['issues opened'])
    await expect(204, await ada.delete(`/user/installations/${installation.id}`))
    assert.deepEqual(await heardOf(forge, () => opened('engine')), [])
  }),
)

test(
  'a repository hook and an app get payloads of their own for the same act',
  open(async ({ forge, ada, install }) => {
    await install()
    await expect(201, await ada.post('/repos/ada/engine/hooks', { config: { url: 'belfry:listen' }, events: ['issues'] }))
    const heard = await heardOf(forge, () => ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
    assert.deepEqual(said(heard), ['issues opened', 'issues opened'])
    assert.deepEqual(heard.map(({ payload }) => 'installation' in payload).toSorted(), [false, true])
  }),
)

test(
  'an app is sent what happens to its installations, without subscribing',
  open(async ({ forge, app, ada, install, engine, secret }) => {
    let id = 0
    const heard = await heardOf(forge, async () => {
      ;({ id } = await install({ repository_ids: [engine.id] }))
      await expect(204, await ada.put(`/user/installations/${id}/repositories/${secret.id}`))
      await expect(204, await ada.put(`/user/installations/${id}/repositories/${secret.id}`))
      await expect(204, await ada.delete(`/user/installations/${id}/repositories/${engine.id}`))
      const suspended = `/app/installations/${id}/suspended`
      for (const _ of 'ab') await expect(204, await asApp(forge, app).put(suspended))
      await expect(204, await asApp(forge, app).delete(suspended))
      await expect(204, await asApp(forge, app).delete(`/app/installations/${id}`))
    })
    assert.deepEqual(said(heard), [
      'installation created',
      'installation_repositories added',
      'installation_repositories removed',
      'installation suspend',
      'installation unsuspend',
      'installation deleted',
    ])
    for (const { event, payload } of heard) {
      // The schemas are older than the field.
      const { client_id, ...shown } = payload.installation
      assert.equal(client_id, app.client_id)
      checkPayload(event, { ...payload, installation: shown })
    }
    assert.deepEqual(pick(heard[0]?.payload.repositories, 'full_name'), ['ada/engine'])
    assert.deepEqual(pick(heard[1]?.payload.repositories_added, 'full_name'), ['ada/secret'])
    assert.deepEqual(pick(heard[2]?.payload.repositories_removed, 'full_name'), ['ada/engine'])
    assert.deepEqual(pick(heard[5]?.payload.repositories, 'full_name'), ['ada/secret'])
    assert.deepEqual(linesOf(heard, 'payload.sender.login').slice(2), ['ada', ...Array(3).fill('octo-helper[bot]')])
  }),
)

test(
  'an app whose owner is suspended gets no events until the suspension ends, and a deleted owner has no apps',
  open(async ({ forge, app, ben, install }) => {
    await ben.owns('boat')
    const installation = await install({}, ben)
    await forge.organization('acme', ben)
    const bot = await asInstallation(forge, app, installation)
    const acts = () =>
      heardOf(forge, async () => {
        await expect(201, await ben.post('/repos/ben/boat/issues', { title: 'Leak' }))
        const path = '/orgs/acme/installations'
        const { id } = await expect(201, await ben.post(path, { app_slug: app.slug }))
        await expect(204, await ben.delete(`/user/installations/${id}`))
      })
    await expect(204, await forge.admin.put('/users/ada/suspended'))
    assert.deepEqual(await acts(), [])
    assert.equal((await bot.get('/installation/repositories')).status, 401)
    assert.equal((await asApp(forge, app).get('/app')).status, 401)
    await expect(204, await forge.admin.delete('/users/ada/suspended'))
    assert.deepEqual(said(await acts()), ['issues opened', 'installation created', 'installation deleted'])
    assert.equal((await bot.get('/installation/repositories')).status, 200)

    await expect(204, await forge.admin.delete('/admin/users/ada'))
    assert.deepEqual(await heardOf(forge, () => ben.post('/repos/ben/boat/issues', { title: 'Leak' })), [])
    assert.equal((await bot.get('/installation/repositories')).status, 401)
    assert.equal((await asApp(forge, app).get('/app')).status, 401)
    assert.equal((await ben.read('/user/installations')).total_count, 0)
  }),
)

test(
  'an app is sent the repositories that it gains and loses when the choice changes to all and back',
  open(async ({ forge, ada, install, engine, secret }) => {
    const { id } = await install({ repository_ids: [engine.id] })
    const visitor = await signIn(forge, 'ada')
    const at = `/settings/installations/${id}`
    const heard = await heardOf(forge, async () => {
      await visitor.fill(at, { reach: 'all' })
      await visitor.fill(at, { reach: 'some', repositories: String(secret.id), listed: `${engine.id} ${secret.id}` })
    })
    assert.deepEqual(said(heard), ['installation_repositories added', 'installation_repositories removed'])
    assert.deepEqual(pick(heard[0]?.payload.repositories_added, 'name'), ['secret'])
    assert.deepEqual(pick(heard[1]?.payload.repositories_removed, 'name'), ['engine'])
    assert.equal((await ada.read('/user/installations')).installations[0].repository_selection, 'selected')
  }),
)

test('deliveries of an app are signed, say what they are for, and can be redelivered', async () => {
  await using forge = await openForge({ worker: true })
  await using receiver = await openReceiver()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const app = await registerApp(ada, { ...wanted, hook_attributes: { url: receiver.url } })
  const { id } = await expect(201, await ada.post('/user/installations', { app_slug: app.slug }))
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  const received = await receiver.first(3)
  assert.deepEqual(received.map(({ headers }) => headers['x-github-event']).toSorted(), ['installation', 'issues', 'ping'])
  for (const { headers, body } of received) {
    assert.ok(await verify(app.webhook_secret, body.toString(), String(headers['x-hub-signature-256'])))
    assert.equal(headers['x-github-hook-installation-target-type'], 'integration')
    assert.equal(headers['x-github-hook-installation-target-id'], String(app.id))
    assert.equal(headers['content-type'], 'application/json')
  }
  const caller = asApp(forge, app)
  await until('all are recorded', async () => (await caller.read('/app/hook/deliveries')).length === 3)
  const [item] = (await caller.read('/app/hook/deliveries')).filter(({ event }: { event: string }) => event === 'issues')
  assert.equal(item.installation_id, id)
  const full = await caller.read(`/app/hook/deliveries/${item.id}`)
  assert.equal(full.request.payload.installation.id, id)
  const config = await caller.read('/app/hook/config')
  for (const variant of ['self-hosted', 'versioned'] as const) {
    const contract = Contract.of(variant)
    const check = (operation: string, body: unknown) =>
      assert.deepEqual(
        // Times have milliseconds here, which the check of formats does not know.
        contract.check(operation, 200, 'application/json', body).filter(({ path }) => !path.endsWith('delivered_at')),
        [],
      )
    check('apps/list-webhook-deliveries', [item])
    check('apps/get-webhook-delivery', full)
    check('apps/get-webhook-config-for-app', config)
  }
  await expect(202, await caller.post(`/app/hook/deliveries/${item.id}/attempts`))
  assert.equal((await receiver.first(4))[3]?.headers['x-github-delivery'], item.guid)

  assert.deepEqual(config, { content_type: 'json', insecure_ssl: '0', secret: '********', url: receiver.url })
  const changed = await expect(200, await caller.patch('/app/hook/config', { url: `${receiver.url}new` }))
  assert.equal(changed.url, `${receiver.url}new`)
  assert.equal((await caller.patch('/app/hook/config', { url: 'ftp://x' })).status, 422)
  const other = await registerApp(ada, { name: 'Other' })
  assert.equal((await asApp(forge, other).get(`/app/hook/deliveries/${item.id}`)).status, 404)
  assert.equal((await asApp(forge, other).get('/app/hook/config')).status, 404, 'it has no hook')
  await expect(200, await asApp(forge, other).patch('/app/hook/config', { url: receiver.url, secret: 'own' }))
  assert.equal((await asApp(forge, other).get(`/app/hook/deliveries/${item.id}`)).status, 404)
})
