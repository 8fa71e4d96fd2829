import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asInstallation, openInstalled, registerApp } from '#test/apps.ts'
import { checkVisits } from '#test/documented.ts'
import { expect, injecting, pick } from '#test/forge.ts'
import { Desk } from '#test/git.ts'

const open = injecting(() => openInstalled({ default_permissions: { contents: 'write' } }, ['engine']))
const path = '/repos/acme/engine/branches/main/protection'
const rules = { required_status_checks: null, enforce_admins: null, required_pull_request_reviews: null }

test(
  'only apps in the list push to a restricted branch, by git and by the API',
  open(async ({ forge, app, installation, ada }) => {
    const write = async () => {
      const bot = await asInstallation(forge, app, installation)
      const body = { message: 'Beep', content: btoa('x') }
      return bot.put(`/repos/acme/engine/contents/${Math.random()}.txt`, body)
    }
    await expect(200, await ada.put(path, { ...rules, restrictions: { users: [], teams: [], apps: [] } }))
    const refused = await expect(409, await write())
    assert.match(refused.message, /not authorized to push/)
    await using desk = await Desk.open(forge)
    const { token } = await asInstallation(forge, app, installation)
    const work = await desk.clone({ login: 'x-access-token', token }, 'acme/engine')
    await work.commit('Beep', { 'beep.txt': 'beep\n' })
    assert.match((await work.attempt('push', 'origin', 'main')).stderr, /not authorized to push/)
    const listed = await expect(200, await ada.post(`${path}/restrictions/apps`, { apps: ['octo-helper'] }))
    assert.deepEqual(pick(listed, 'slug'), ['octo-helper'])
    await work.push('main')
    await expect(201, await write())
    await expect(200, await ada.delete(`${path}/restrictions/apps`, ['octo-helper']))
    assert.equal((await write()).status, 409)
    await expect(200, await ada.put(path, { ...rules, restrictions: { users: [], teams: [], apps: ['Octo-Helper'] } }))
    await expect(201, await write())
    const bypass = { bypass_pull_request_allowances: { apps: ['octo-helper'] } }
    await expect(200, await ada.put(path, { ...rules, restrictions: null, required_pull_request_reviews: bypass }))
    await expect(201, await write())
  }),
)

test(
  'the lists of apps match the documentation, and take apps that are installed and may write contents',
  open(async ({ ada }) => {
    const apps = `${path}/restrictions/apps`
    await checkVisits(ada, {}, [
      [
        'repos/update-branch-protection',
        200,
        'put',
        path,
        { ...rules, restrictions: { users: [], teams: [], apps: ['octo-helper'] } },
      ],
      ['repos/get-branch-protection', 200, 'get', path],
      ['repos/get-apps-with-access-to-protected-branch', 200, 'get', apps],
      ['repos/set-app-access-restrictions', 200, 'put', apps, []],
      ['repos/add-app-access-restrictions', 200, 'post', apps, { apps: ['octo-helper'] }],
      ['repos/remove-app-access-restrictions', 200, 'delete', apps, { apps: ['octo-helper'] }],
    ])
    await registerApp(ada, { name: 'Absent', default_permissions: { contents: 'write' }, public: true })
    await registerApp(ada, { name: 'Reader', default_permissions: { contents: 'read' }, public: true })
    await expect(201, await ada.post('/orgs/acme/installations', { app_slug: 'reader' }))
    for (const slug of ['absent', 'reader', 'nothing']) {
      const { message } = await expect(422, await ada.post(apps, { apps: [slug] }))
      assert.match(message, /no app named/)
    }
    assert.deepEqual(await ada.read(apps), [])
  }),
)
