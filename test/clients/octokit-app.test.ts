import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { App, createNodeMiddleware } from '@octokit/app'
import { expect, linesOf, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { consent, signIn } from '#test/oauth.ts'
import { Octokit, silent } from '#test/octokit.ts'
import { openServer } from '#test/webhooks.ts'
import { npmVersion, Story } from './story.ts'

test('a newcomer with @octokit/app', async (t) => {
  await using forge = await openForge({ worker: true })
  // The client signs with the time of this machine.
  forge.clock.advance(Date.now() - forge.clock.now().getTime())
  const baseUrl = `${forge.web}/api/v3`
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { private: true })
  await ada.owns('secret', { private: true })
  const server = createServer()
  await using receiver = await openServer(server)
  const story = new Story(t, { client: '`@octokit/app`', version: npmVersion('@octokit/app') })
  const engine = { owner: 'ada', repo: 'engine' }

  const manifest = {
    name: 'Greeter',
    url: 'https://greeter.example',
    hook_attributes: { url: `${receiver.url}api/github/webhooks` },
    callback_urls: [`${receiver.url}api/github/oauth/callback`],
    default_permissions: { issues: 'write' },
    default_events: ['issues'],
    public: true,
  }
  const made = await expect(201, await ada.post('/user/apps', manifest))
  const app = new App({
    appId: made.id,
    privateKey: made.pem,
    webhooks: { secret: made.webhook_secret },
    oauth: { clientId: made.client_id, clientSecret: made.client_secret },
    Octokit: Octokit.defaults({ baseUrl }),
    log: silent,
  })
  const seen: string[] = []
  app.webhooks.onAny(({ name }) => void seen.push(name))
  app.webhooks.on('issues.opened', async ({ octokit, payload }) => {
    const { repository, issue } = payload
    const it = { owner: repository.owner.login, repo: repository.name, issue_number: issue.number }
    await octokit.rest.issues.createComment({ ...it, body: `Hello ${issue.user?.login}` })
  })
  server.on('request', createNodeMiddleware(app))

  await story.works('the app itself', async () => {
    const { data } = await app.octokit.request('GET /app')
    assert.deepEqual([data?.slug, data?.events], ['greeter', ['issues']])
    assert.equal(await app.getInstallationUrl(), `${forge.web}/apps/greeter/installations/new`)
  })

  let installation_id = 0
  await story.works('installations and their repositories', async () => {
    const { id } = await ada.read('/repos/ada/engine')
    const wanted = { app_slug: 'greeter', repository_ids: [id] }
    installation_id = (await expect(201, await ada.post('/user/installations', wanted))).id
    const found: string[] = []
    await app.eachInstallation(({ installation }) => void found.push(`${installation.id} ${installation.account?.login}`))
    await app.eachRepository(({ repository }) => void found.push(repository.full_name))
    assert.deepEqual(found, [`${installation_id} ada`, 'ada/engine'])
    const { data } = await app.octokit.request('GET /repos/{owner}/{repo}/installation', engine)
    assert.equal(data.id, installation_id)
    await until('the app was sent its installation', () => seen.includes('installation'))
  })

  await story.works('a webhook that is answered by a comment of the bot', async () => {
    const path = '/repos/ada/engine/issues/1'
    await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'It rattles' }))
    await until('the bot commented', async () => (await ada.read(`${path}/comments`)).length === 1)
    const lines = linesOf(await ada.read(`${path}/timeline`), 'event', 'actor.login', 'actor.type', 'body')
    assert.deepEqual(lines, ['commented greeter[bot] Bot Hello ada'])
  })

  await story.works('the token of an installation, in its repositories only', async () => {
    const octokit = await app.getInstallationOctokit(installation_id)
    const { data } = await octokit.request('GET /installation/repositories')
    assert.deepEqual(linesOf(data.repositories, 'full_name'), ['ada/engine'])
    await assert.rejects(octokit.request('GET /repos/{owner}/{repo}', { ...engine, repo: 'secret' }), { status: 404 })
    await assert.rejects(octokit.request('GET /user'), { status: 403 })
    const contents = { ...engine, path: 'a.txt', message: 'Beep', content: '' }
    await assert.rejects(octokit.request('PUT /repos/{owner}/{repo}/contents/{path}', contents), { status: 403 })
  })

  await story.works('tokens of users, with refresh', async () => {
    const code = await consent(await signIn(forge, ben.login), { client_id: made.client_id })
    const { authentication } = await app.oauth.createToken({ code })
    assert.ok('refreshToken' in authentication)
    const { data } = await app.oauth.refreshToken({ refreshToken: authentication.refreshToken })
    const octokit = await app.oauth.getUserOctokit({ token: data.access_token })
    assert.equal((await octokit.request('GET /user')).data.login, 'ben')
    const { data: reached } = await octokit.request('GET /user/installations')
    assert.equal(reached.total_count, 0)
  })

  await story.works('deliveries and their repetition', async () => {
    const list = async () => (await app.octokit.request('GET /app/hook/deliveries')).data
    await until('all are recorded', async () => (await list()).length >= 3)
    const delivery = (await list()).find(({ event }) => event === 'installation')
    assert.equal(delivery?.installation_id, installation_id)
    const before = seen.length
    await app.octokit.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: Number(delivery?.id) })
    await until('it came again', () => seen.length > before)
  })

  await story.works('suspension and uninstalling', async () => {
    const { token } = (await app.octokit.auth({ type: 'installation', installationId: installation_id })) as { token: string }
    // With the token alone, because the client's own strategy retries a 401 for seconds.
    const octokit = new Octokit({ auth: token, baseUrl })
    await app.octokit.request('PUT /app/installations/{installation_id}/suspended', { installation_id })
    await assert.rejects(octokit.request('GET /repos/{owner}/{repo}', engine), { status: 401 })
    await app.octokit.request('DELETE /app/installations/{installation_id}/suspended', { installation_id })
    await octokit.request('GET /repos/{owner}/{repo}', engine)
    await app.octokit.request('DELETE /app/installations/{installation_id}', { installation_id })
    await assert.rejects(octokit.request('GET /repos/{owner}/{repo}', engine), { status: 401 })
  })
  await story.end()
})
