import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asInstallation, registerApp } from '#test/apps.ts'
import { Client, expect, injecting, withPeople } from '#test/forge.ts'
import { ask, consent, signIn } from '#test/oauth.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { type Heard, heardOf } from '#test/webhooks.ts'

const wanted = {
  public: true,
  callback_urls: ['https://helper.example/back'],
  hook_attributes: { url: 'belfry:listen' },
  default_permissions: { issues: 'read', contents: 'read', packages: 'write' },
  default_events: ['issues'],
}

/** Ada's app is installed on ben's account. */
const open = injecting(async () => {
  const forge = await withPeople('ada', 'ben')()
  const { ada, ben } = forge
  await ben.owns('boat', { private: true, auto_init: true })
  await expect(201, await ben.post('/repos/ben/boat/issues', { title: 'Leak' }))
  const app = await registerApp(ada, wanted)
  const installation = await expect(201, await ben.post('/user/installations', { app_slug: app.slug }))
  const [adas, bens] = [await signIn(forge, 'ada'), await signIn(forge, 'ben')]
  const at = `/settings/apps/${app.slug}/permissions`
  const change = async (fields: Record<string, string>) => assert.equal((await adas.fill(at, fields)).status, 303)
  const shown = async () => (await ben.read('/user/installations')).installations[0]
  const userToken = async () => {
    const { client_id, client_secret } = app
    const { access_token } = await ask(forge, { client_id, client_secret, code: await consent(bens, { client_id }) })
    return new Client(`${forge.web}/api/v3`, { authorization: `Bearer ${access_token}` })
  }
  return Object.assign(forge, { app, installation, adas, bens, at, change, shown, userToken })
})

const kept = { permission_contents: 'read', permission_packages: 'write' }
const said = (heard: Heard[]) => heard.map(({ event, payload }) => `${event} ${payload.action ?? ''}`.trim())

test(
  'new permissions of an app are in force when the account has accepted them',
  open(async ({ forge, app, installation, ben, bens, change, shown, userToken }) => {
    const events = 'issues push pull_request'
    await change({ ...kept, permission_issues: 'write', permission_pull_requests: 'read', events })
    const before = await shown()
    assert.deepEqual(before.permissions, { contents: 'read', issues: 'read', metadata: 'read', packages: 'write' })
    assert.deepEqual(before.events, ['issues', 'push'], 'push needs no more than was accepted')
    const comment = { body: 'Beep' }
    const comments = '/repos/ben/boat/issues/1/comments'
    const bot = await asInstallation(forge, app, installation)
    assert.equal((await bot.post(comments, comment)).status, 403)
    assert.equal((await (await userToken()).post(comments, comment)).status, 403)
    const opens = () => ben.post('/repos/ben/boat/issues', { title: 'Leak' })
    assert.deepEqual(said(await heardOf(forge, opens)), ['issues opened'])

    const page = `/settings/installations/${installation.id}`
    const text = await (await bens.get(page)).text()
    assert.match(text, /New permissions.+write <code>issues.+read <code>pull_requests.+events: pull_request/s)
    const asked_at = /name="asked_at" value="(\d+)"/.exec(text)?.[1] ?? ''
    await bens.fill(`${page}/permissions`, { asked_at: '12345' }, page)
    assert.equal((await shown()).permissions.issues, 'read', 'something else was shown')
    const heard = await heardOf(forge, () => bens.fill(`${page}/permissions`, { asked_at }, page))
    assert.deepEqual(said(heard), ['installation new_permissions_accepted'])
    const { client_id, ...known } = heard[0]?.payload.installation ?? {}
    checkPayload('installation', { ...heard[0]?.payload, installation: known })
    assert.equal(known.permissions.issues, 'write')
    const after = await shown()
    assert.deepEqual([after.permissions.issues, after.events], ['write', ['issues', 'pull_request', 'push']])
    assert.equal((await bot.post(comments, comment)).status, 403, 'the token is older')
    assert.equal((await (await asInstallation(forge, app, installation)).post(comments, comment)).status, 201)
    assert.equal((await (await userToken()).post(comments, comment)).status, 201)
    assert.doesNotMatch(await (await bens.get(page)).text(), /New permissions/)
    assert.deepEqual(await heardOf(forge, () => bens.fill(`${page}/permissions`, { asked_at }, page)), [], 'once')
  }),
)

test(
  'an app loses at once what it no longer asks for, also with tokens that it has',
  open(async ({ forge, app, installation, ben, change, shown, userToken }) => {
    const [bot, user] = [await asInstallation(forge, app, installation), await userToken()]
    const reads = async (path: string) => [(await bot.get(path)).status, (await user.get(path)).status]
    assert.deepEqual(await reads('/repos/ben/boat/issues/1'), [200, 200])
    await change(kept)
    assert.deepEqual(await reads('/repos/ben/boat/issues/1'), [403, 403])
    assert.deepEqual(await reads('/repos/ben/boat/contents/README.md'), [200, 200])
    const { permissions, events } = await shown()
    assert.deepEqual([permissions, events], [{ contents: 'read', metadata: 'read', packages: 'write' }, []])
    assert.deepEqual(await heardOf(forge, () => ben.post('/repos/ben/boat/issues', { title: 'Leak' })), [])
  }),
)

test(
  'the form keeps what it shows, refuses events without permission, and is for owners of the app',
  open(async ({ adas, bens, at, ben }) => {
    const page = await (await adas.get(at)).text()
    assert.match(page, /value="issues"/)
    assert.match(page, /permission_packages.+value="write" selected/s)
    const refused = await adas.fill(at, { permission_contents: 'read', events: 'issues' })
    assert.equal(refused.status, 422)
    assert.match(await refused.text(), /unsupported: issues/)
    assert.equal((await adas.fill(at, { permission_everything: 'write' })).status, 422)
    assert.equal((await adas.fill(at, { permission_issues: 'all' })).status, 422)
    assert.equal((await bens.get(at)).status, 404)
    assert.equal((await bens.fill(at, {}, '/settings/profile')).status, 404)
    assert.equal((await ben.read('/apps/octo-helper')).permissions.issues, 'read')
  }),
)
