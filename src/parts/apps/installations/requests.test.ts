import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract } from '#test/activity/schemas.ts'
import { asApp, registerApp } from '#test/apps.ts'
import { expect, injecting, linesOf, withPeople } from '#test/forge.ts'
import { signIn, target } from '#test/oauth.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf } from '#test/webhooks.ts'

/** Ben and cy are members of ada's organization acme. Eve has an app. */
const open = injecting(async () => {
  const forge = await withPeople('ada', 'ben', 'cy', 'eve')()
  const { ada, eve } = forge
  await forge.organization('acme', ada)
  for (const login of ['ben', 'cy']) await expect(200, await ada.put(`/orgs/acme/memberships/${login}`, {}))
  const app = await registerApp(eve, { public: true, hook_attributes: { url: 'belfry:listen' } })
  const form = `/apps/${app.slug}/installations/new?account=acme`
  const asks = async (login: string) =>
    (await signIn(forge, login)).fill(`/apps/${app.slug}/installations`, { account: 'acme', reach: 'all' }, form)
  const requested = () => asApp(forge, app).read('/app/installation-requests')
  return Object.assign(forge, { app, form, asks, requested })
})

test(
  'members ask the owners of their organization to install an app, and installing it answers them',
  open(async ({ forge, app, ada, form, asks, requested }) => {
    const page = await (await (await signIn(forge, 'ben')).get(form)).text()
    assert.match(page, /owners of acme decide/)
    assert.doesNotMatch(page, /name="repositories"/)
    for (const login of ['ben', 'ben', 'cy']) assert.equal((await asks(login)).status, 303)
    assert.deepEqual(await asApp(forge, app).read('/app/installations'), [])
    const shown = await requested()
    assert.deepEqual(linesOf(shown, 'requester.login', 'account.login'), ['ben acme', 'cy acme'])
    for (const variant of ['self-hosted', 'versioned'] as const) {
      const operation = 'apps/list-installation-requests-for-authenticated-app'
      const faults = Contract.of(variant).check(operation, 200, 'application/json', shown)
      // The self-hosted documentation requires an account to be a user and an enterprise at the same time.
      assert.deepEqual(
        faults.filter(({ path }) => !path.startsWith('/*/account')),
        [],
      )
    }
    await expect(204, await ada.delete('/orgs/acme/members/cy'))
    assert.deepEqual(linesOf(await requested(), 'requester.login'), ['ben'], 'cy has left')
    assert.match(await (await (await signIn(forge, 'ada')).get('/settings/installations')).text(), /ben asks you to install/)
    const [created] = await heardOf(forge, () => asks('ada'))
    assert.deepEqual([created?.payload.action, created?.payload.requester.login], ['created', 'ben'])
    const { client_id, ...known } = created?.payload.installation ?? {}
    checkPayload('installation', { ...created?.payload, installation: known })
    assert.deepEqual(await requested(), [])
    const again = await asks('ben')
    assert.equal(again.status, 422)
    assert.match(await again.text(), /already installed/)
  }),
)

test(
  'an owner declines a request, its requester withdraws it, and no one else can',
  open(async ({ forge, asks, requested, eve }) => {
    const end = async (login: string) => {
      const [{ id }] = await requested()
      return (await signIn(forge, login)).fill(`/settings/installation-requests/${id}/delete`, {}, '/settings/installations')
    }
    for (const login of ['ada', 'ben']) {
      await asks('ben')
      assert.equal((await end('cy')).status, 404)
      assert.equal((await end(login)).status, 303)
      assert.deepEqual(await requested(), [])
    }
    assert.equal((await asks('eve')).status, 404, 'no member')
    const hidden = await registerApp(eve, { name: 'Hidden', setup_url: 'https://helper.example/setup', public: true })
    const ben = await signIn(forge, 'ben')
    const fields = { account: 'acme', state: 's' }
    const to = target(
      await ben.fill(`/apps/${hidden.slug}/installations`, fields, `/apps/${hidden.slug}/installations/new?account=acme`),
    )
    assert.equal(to.href, 'https://helper.example/setup?setup_action=request&state=s')
  }),
)
