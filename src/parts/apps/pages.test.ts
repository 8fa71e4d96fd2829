import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { asApp, asInstallation, type RegisteredApp } from '#test/apps.ts'
import { expect, type Forge, injecting, pick, withPeople } from '#test/forge.ts'
import { signIn, target, type Visitor } from '#test/oauth.ts'

const open = injecting(async () => {
  const forge = await withPeople('ada', 'ben')()
  return Object.assign(forge, { visitor: await signIn(forge, 'ada') })
})

const manifest = {
  name: 'Octo Helper',
  url: 'https://helper.example',
  hook_attributes: { url: 'https://helper.example/hook' },
  redirect_url: 'https://helper.example/registered?x=1',
  public: true,
  default_permissions: { issues: 'write' },
  default_events: ['issues'],
}

/** Sends the manifest as the form of another site does: without a session. */
async function sendManifest(forge: Forge, path: string, text = JSON.stringify(manifest)) {
  const body = new URLSearchParams({ manifest: text })
  const headers = { origin: 'https://helper.example', 'sec-fetch-site': 'cross-site' }
  return target(await fetch(`${forge.web}${path}`, { method: 'POST', headers, body, redirect: 'manual' }))
}

/** Confirms the registration on the page, and exchanges the code. */
async function confirm(forge: Forge, visitor: Visitor, at: URL, action: string): Promise<RegisteredApp> {
  const fields = { manifest: at.searchParams.get('manifest') ?? '', state: at.searchParams.get('state') ?? '' }
  const to = target(await visitor.fill(action, fields, at.href))
  assert.deepEqual([to.origin, to.searchParams.get('x'), to.searchParams.get('state')], ['https://helper.example', '1', 'abc'])
  const path = `/app-manifests/${to.searchParams.get('code')}/conversions`
  const app = await expect(201, await forge.nobody.post(path))
  assert.equal((await forge.nobody.post(path)).status, 404, 'a code works once')
  return app
}

test(
  'a program registers an app by its manifest, after the user confirmed',
  open(async ({ forge, visitor, ben, ada, clock }) => {
    const at = await sendManifest(forge, '/settings/apps/new?state=abc')
    const shown = await (await visitor.get(at.href)).text()
    for (const text of ['Octo Helper', '<code>issues</code>', 'https://helper.example/hook', 'private key'])
      assert.ok(shown.includes(text), text)
    assert.deepEqual(await ada.read('/user/apps'), [], 'nothing is registered yet')
    const app = await confirm(forge, visitor, at, '/settings/apps/manifest')
    assert.equal((await asApp(forge, app).read('/app')).owner.login, 'ada')
    assert.match(app.webhook_secret, /^\w{40}$/)

    await forge.organization('acme', ada)
    const other = JSON.stringify({ ...manifest, name: 'Acme CI' })
    const there = await sendManifest(forge, '/organizations/acme/settings/apps/new?state=abc', other)
    const ours = await confirm(forge, visitor, there, '/organizations/acme/settings/apps/manifest')
    assert.equal((await asApp(forge, ours).read('/app')).owner.login, 'acme')
    const bens = await signIn(forge, 'ben')
    assert.equal((await bens.get(there.href)).status, 404)
    assert.equal(
      (await bens.fill('/organizations/acme/settings/apps/manifest', { manifest: other }, '/settings/profile')).status,
      404,
    )
    assert.equal((await ben.get('/user/apps')).status, 200)

    const taken = await visitor.fill('/settings/apps/manifest', { manifest: JSON.stringify(manifest) }, '/settings/profile')
    assert.equal(taken.status, 422)
    assert.match(await taken.text(), /already taken/)
    for (const wrong of [
      '',
      '{',
      '[]',
      '{"name":1}',
      JSON.stringify({ ...manifest, redirect_url: 'javascript:x' }),
      'x'.repeat(9000),
    ]) {
      const refused = await visitor.get((await sendManifest(forge, '/settings/apps/new', wrong)).href)
      assert.equal(refused.status, 422)
      assert.match(await refused.text(), /role="alert"/)
    }
    const late = await visitor.fill('/settings/apps/manifest', { manifest: other, name: 'Late' }, '/settings/profile')
    clock.advance(3600_001)
    const code = target(late).searchParams.get('code')
    assert.equal((await forge.nobody.post(`/app-manifests/${code}/conversions`)).status, 404, 'an hour is over')
  }),
)

test(
  'an app is registered by a form, gets keys, and is deleted',
  open(async ({ forge, visitor, ada }) => {
    const fields = { name: 'By Hand', url: 'https://hand.example', permission_issues: 'write', events: 'issues, issue_comment' }
    const page = await (await visitor.fillAndFollow('/settings/apps', { ...fields })).text()
    const secret = (label: string) => new RegExp(`aria-label="${label}".*?class="secret">([^<]+)<`, 's').exec(page)?.[1]
    assert.match(secret('Private key') ?? '', /BEGIN RSA PRIVATE KEY/)
    assert.match(secret('Client secret') ?? '', /^\w{40}$/)
    const [{ id }] = await ada.read('/user/apps')
    const app = { id, pem: secret('Private key') ?? '' } as RegisteredApp
    assert.deepEqual((await asApp(forge, app).read('/app')).events, ['issue_comment', 'issues'])

    const keys = '/settings/apps/by-hand/keys'
    const second = await (await visitor.get(target(await visitor.fill(keys, {}, '/settings/profile')).href)).text()
    const pem = /class="secret">([^<]+)</.exec(second)?.[1] ?? ''
    assert.equal((await asApp(forge, { ...app, pem }).get('/app')).status, 200)
    const first = /keys\/(\d+)\/delete/.exec(second)?.[1]
    assert.equal((await visitor.fill(`${keys}/${first}/delete`, {}, '/settings/profile')).status, 303)
    assert.equal((await asApp(forge, app).get('/app')).status, 401, 'its key is deleted')
    assert.equal((await asApp(forge, { ...app, pem }).get('/app')).status, 200)

    const bens = await signIn(forge, 'ben')
    for (const path of ['', '/delete']) assert.equal((await bens.get(`/settings/apps/by-hand${path}`)).status, 404)
    assert.equal((await bens.fill(keys, {}, '/settings/profile')).status, 404)
    const again = await visitor.fill('/settings/apps', fields)
    assert.equal(again.status, 422)
    assert.match(await again.text(), /value="https:\/\/hand.example"/)
    assert.equal((await visitor.fill('/settings/apps/by-hand/delete', {})).status, 303)
    assert.equal((await asApp(forge, { ...app, pem }).get('/app')).status, 401)
  }),
)

test(
  'an app is installed by its page, changed, suspended and uninstalled',
  open(async ({ forge, ada, ben }) => {
    const setup_url = 'https://helper.example/setup'
    const app: RegisteredApp = await expect(201, await ada.post('/user/apps', { ...manifest, setup_url }))
    const [engine, secret] = [await ben.owns('engine'), await ben.owns('secret', { private: true })]
    const bens = await signIn(forge, 'ben')
    const form = '/apps/octo-helper/installations/new'
    assert.match(await (await fetch(`${forge.web}/apps/octo-helper`)).text(), /Install/)
    assert.match(
      await (await bens.get(form)).text(),
      /Metadata includes the event timelines.*secret <span class="muted">private/s,
    )
    assert.equal((await bens.get(`${form}?account=ada`)).status, 404)
    const to = target(
      await bens.fill('/apps/octo-helper/installations', { reach: 'some', repositories: String(engine.id), state: 's' }, form),
    )
    assert.equal(`${to.origin}${to.pathname}`, setup_url)
    const id = Number(to.searchParams.get('installation_id'))
    assert.deepEqual([to.searchParams.get('setup_action'), to.searchParams.get('state')], ['install', 's'])
    const bot = await asInstallation(forge, app, { id })
    const names = async () => pick((await bot.read('/installation/repositories')).repositories, 'name')
    assert.deepEqual(await names(), ['engine'])

    const { html_url } = await asApp(forge, app).read(`/app/installations/${id}`)
    assert.equal((await bens.get(html_url)).status, 200)
    const at = `/settings/installations/${id}`
    await bens.fill(at, { reach: 'some', repositories: String(secret.id), listed: `${engine.id} ${secret.id}` })
    assert.deepEqual(await names(), ['secret'])
    await bens.fill(at, { reach: 'all' })
    assert.deepEqual(await names(), ['engine', 'secret'])
    assert.equal((await (await signIn(forge, 'ada')).get(at)).status, 404)
    await bens.fill(`${at}/suspended`, {}, at)
    assert.equal((await bot.get('/installation/repositories')).status, 401)
    const own = `/app/installations/${id}/suspended`
    assert.match((await expect(403, await asApp(forge, app).delete(own))).message, /owner of the account suspended/)
    assert.equal((await bot.get('/installation/repositories')).status, 401)
    await bens.fill(`${at}/suspended`, {}, at)
    assert.equal((await bot.get('/installation/repositories')).status, 200)

    await expect(204, await asApp(forge, app).put(own))
    assert.match(await (await bens.get(at)).text(), /only the app can end that/)
    await bens.fill(`${at}/suspended`, {}, at)
    await expect(204, await asApp(forge, app).delete(own))
    assert.equal((await bot.get('/installation/repositories')).status, 401, 'the account suspended it too')
    await bens.fill(`${at}/suspended`, {}, at)
    assert.equal((await bot.get('/installation/repositories')).status, 200)
    await bens.fill(`${at}/delete`, {})
    assert.equal((await bot.get('/installation/repositories')).status, 401)
  }),
)

test(
  'saving the page of an installation changes only the repositories that it lists',
  open(async ({ forge, ada, ben }) => {
    const app: RegisteredApp = await expect(201, await ada.post('/user/apps', manifest))
    const [engine, zebra] = [await ben.owns('engine'), await ben.owns('zebra')]
    const { db } = forge.belfry
    await db.query(sql`
      insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
      select a.id, 'many-' || n, false, ${engine.id}, ${db.now}, ${db.now} from accounts a, generate_series(1, 300) n where a.login = 'ben'`)
    const chosen = { app_slug: app.slug, repository_ids: [engine.id, zebra.id] }
    const { id } = await expect(201, await ben.post('/user/installations', chosen))
    const bens = await signIn(forge, 'ben')
    const at = `/settings/installations/${id}`
    const names = async () => pick((await ben.read(`/user/installations/${id}/repositories`)).repositories, 'name')
    const listedOn = async (path: string) => {
      const page = await (await bens.get(path)).text()
      return { page, listed: /name="listed" value="([\d ]*)"/.exec(page)?.[1] ?? '' }
    }
    const first = await listedOn(at)
    assert.match(first.page, /300 of 302 repositories are listed/)
    assert.doesNotMatch(first.page, />\s*zebra/)
    await bens.fill(at, { reach: 'some', listed: first.listed })
    assert.deepEqual(await names(), ['zebra'], 'the page did not list it')
    const found = await listedOn(`${at}?q=ZEB`)
    assert.match(found.page, new RegExp(`value="${zebra.id}" checked`))
    await bens.fill(at, { reach: 'some', listed: found.listed })
    assert.deepEqual(await names(), [])
    assert.match((await listedOn('/apps/octo-helper/installations/new?q=zeb&state=s')).page, /name="state" value="s"/)
  }),
)
