import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { expect, linesOf, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openServer } from '#test/webhooks.ts'
import { npmVersion, Story } from './story.ts'

/** Imported without types, because Probot's change those of Octokit in all other files. */
// biome-ignore lint/suspicious/noExplicitAny: the assertions are its type.
type Untyped = any
const { createNodeMiddleware, Probot }: Untyped = await import('probot' as string)

test('a newcomer with Probot', async (t) => {
  await using forge = await openForge({ worker: true })
  // The client signs with the time of this machine.
  forge.clock.advance(Date.now() - forge.clock.now().getTime())
  const ada = await forge.person('ada')
  await ada.owns('engine', { private: true, auto_init: true })
  const server = createServer()
  await using receiver = await openServer(server)
  const story = new Story(t, { client: 'Probot', version: npmVersion('probot') })

  const manifest = {
    name: 'Triage',
    url: 'https://triage.example',
    hook_attributes: { url: `${receiver.url}api/github/webhooks` },
    default_permissions: { issues: 'write', contents: 'read', single_file: 'read' },
    default_events: ['issues', 'issue_comment', 'push'],
  }
  const made = await expect(201, await ada.post('/user/apps', manifest))
  const options = { appId: made.id, privateKey: made.pem, secret: made.webhook_secret, baseUrl: `${forge.web}/api/v3` }
  const probot = new Probot({ ...options, logLevel: 'fatal' })
  const configs: unknown[] = []
  const middleware = await createNodeMiddleware(
    (app: Untyped) => {
      app.on('issues.opened', async (context: Untyped) => {
        const config = await context.config('triage.yml')
        configs.push(config)
        if (!config) return
        await context.octokit.rest.issues.addLabels(context.issue({ labels: [config.label] }))
        await context.octokit.rest.issues.createComment(context.issue({ body: 'Sorted' }))
      })
      app.on('issue_comment.created', async (context: Untyped) => {
        if (context.isBot) return
        await context.octokit.rest.issues.update(context.issue({ state: 'closed' }))
      })
    },
    { probot, webhooksPath: '/api/github/webhooks' },
  )
  server.on('request', (request, response) => middleware(request, response))
  await expect(201, await ada.post('/user/installations', { app_slug: 'triage' }))

  await story.works('context.config() without a file', async () => {
    await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Too early' }))
    await until('the app looked for its file', () => configs.length === 1)
    assert.deepEqual(configs, [null])
  })

  await story.works('context.config() and a comment with a label', async () => {
    const content = Buffer.from('label: noise\n').toString('base64')
    await expect(201, await ada.put('/repos/ada/engine/contents/.github/triage.yml', { message: 'Configure', content }))
    await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'It rattles' }))
    const path = '/repos/ada/engine/issues/2'
    await until('the bot commented', async () => (await ada.read(`${path}/comments`)).length === 1)
    assert.deepEqual(configs.at(-1), { label: 'noise' })
    const lines = linesOf(await ada.read(`${path}/timeline`), 'event', 'actor.login').toSorted()
    assert.deepEqual(lines, ['commented triage[bot]', 'labeled triage[bot]'])
  })

  await story.works('an answer to users, and none to itself', async () => {
    const path = '/repos/ada/engine/issues/2'
    await expect(201, await ada.post(`${path}/comments`, { body: 'Done' }))
    await until('the bot closed it', async () => (await ada.read(path)).state === 'closed')
    const { closed_by } = await ada.read(path)
    assert.equal(closed_by.login, 'triage[bot]')
  })
  await story.end()
})
