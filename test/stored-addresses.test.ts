import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asInstallation, registerApp } from '#test/apps.ts'
import { type Client, expect, openForge } from '#test/forge.ts'

/** Addresses that URL parsers accept after they dropped characters. */
const wrong = [
  'https://ci.example/a\r\nX-Injected: 1',
  ' https://ci.example/',
  'https://ci.example/ ',
  'https://ci.example/\tb',
  'https://ci.example/\u0001',
  'https://ci.example/\u0085',
]

test('every stored address with control characters, or with spaces at its ends, is 422', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const repo = await ada.owns('engine', { auto_init: true })
  await forge.organization('acme', ada)
  const path = '/repos/ada/engine'
  const { sha } = await ada.read(`${path}/commits/main`)
  const { id: hook } = await expect(201, await ada.post(`${path}/hooks`, { config: { url: 'https://ci.example/' } }))
  const { id: deployment } = await expect(201, await ada.post(`${path}/deployments`, { ref: 'main', required_contexts: [] }))
  const app = await registerApp(ada, { default_permissions: { checks: 'write' } })
  const installation = await expect(201, await ada.post('/user/installations', { app_slug: app.slug, repository_ids: [repo.id] }))
  const bot: Client = await asInstallation(forge, app, installation)
  let made = 0
  const newApp = (more: object) =>
    ada.post('/user/apps', { name: `Helper ${++made}`, url: 'https://helper.example', default_permissions: {}, ...more })
  const application = { name: 'Viewer', url: 'https://v.example/', callback_url: 'https://v.example/', owner: 'ada' }
  const deployed = `${path}/deployments/${deployment}/statuses`
  const writes: Record<string, (url: string) => Promise<Response>> = {
    'url of a new webhook': (url) => ada.post(`${path}/hooks`, { config: { url } }),
    'url of a webhook': (url) => ada.patch(`${path}/hooks/${hook}`, { config: { url } }),
    'url in the config of a webhook': (url) => ada.patch(`${path}/hooks/${hook}/config`, { url }),
    'url of a webhook of an organization': (url) => ada.post('/orgs/acme/hooks', { name: 'web', config: { url } }),
    'url of an application': (url) => forge.admin.post('/admin/applications', { ...application, url }),
    'callback of an application': (url) => forge.admin.post('/admin/applications', { ...application, callback_url: url }),
    'url of an app': (url) => newApp({ url }),
    'callback of an app': (url) => newApp({ callback_urls: [url] }),
    'setup address of an app': (url) => newApp({ setup_url: url }),
    'webhook of an app': (url) => newApp({ hook_attributes: { url } }),
    'homepage of a new repository': (homepage) => ada.post('/user/repos', { name: 'mill', homepage }),
    'homepage of a repository': (homepage) => ada.patch(path, { homepage }),
    'blog of a user': (blog) => ada.patch('/user', { blog }),
    'blog of an organization': (blog) => ada.patch('/orgs/acme', { blog }),
    'target of a status': (target_url) => ada.post(`${path}/statuses/${sha}`, { state: 'success', target_url }),
    'environment of a deployment': (environment_url) => ada.post(deployed, { state: 'success', environment_url }),
    'log of a deployment': (log_url) => ada.post(deployed, { state: 'success', log_url }),
    'details of a check run': (details_url) => bot.post(`${path}/check-runs`, { name: 'test', head_sha: sha, details_url }),
  }
  for (const [index, [name, write]] of Object.entries(writes).entries()) {
    for (const url of wrong) assert.equal((await write(url)).status, 422, `${name}: ${JSON.stringify(url)}`)
    assert.ok((await write(`https://ci.example/${index}`)).ok, name)
  }
})

test('the source of an import may have spaces at its ends, which are not stored, but no control characters', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const vcs_url of wrong.filter((url) => url === url.trim()))
    assert.equal((await ada.put('/repos/ada/engine/import', { vcs_url })).status, 422, JSON.stringify(vcs_url))
  const { vcs_url } = await expect(201, await ada.put('/repos/ada/engine/import', { vcs_url: ' https://source.example/a ' }))
  assert.equal(vcs_url, 'https://source.example/a')
})
