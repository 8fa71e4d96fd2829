import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { Octokit } from '@octokit/rest'
import { startBelfry } from 'belfry/testing'
import { createNodeMiddleware, Probot } from 'probot'
import app from './app.js'

let server
let handle
const receiver = createServer((request, response) => handle(request, response))
const rocket = { owner: 'dana', repo: 'rocket' }

before(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  server = await startBelfry({
    seed: {
      users: [{ login: 'dana' }, { login: 'eli' }],
      repositories: [{ name: 'dana/rocket', issues: [{ title: 'It leaks', author: 'eli' }] }],
      apps: [
        {
          name: 'Greeter',
          owner: 'dana',
          permissions: { issues: 'write' },
          events: ['issues'],
          webhook_url: `http://127.0.0.1:${receiver.address().port}/`,
          installations: [{ account: 'dana' }],
        },
      ],
    },
  })
})
beforeEach(async () => {
  await server.reset()
  // A new Probot for each test, because it remembers tokens that the reset removed.
  const { id: appId, private_key: privateKey, webhook_secret: secret } = server.apps.greeter
  const probot = new Probot({ appId, privateKey, secret, baseUrl: `${server.url}/api/v3`, logLevel: 'fatal' })
  handle = await createNodeMiddleware(app, { probot, webhooksPath: '/' })
})
after(async () => {
  receiver.close()
  await server.close()
})

/** Opens an issue, and waits until the app has answered the delivery. */
async function openIssue(login, title) {
  const octokit = new Octokit(server.users[login].octokitOptions)
  const { data: issue } = await octokit.issues.create({ ...rocket, title })
  const delivery = await server.deliveries.next({ event: 'issues', action: 'opened' })
  assert.equal(delivery.status_code, 200)
  const { data: comments } = await octokit.issues.listComments({ ...rocket, issue_number: issue.number })
  return comments.map(({ user, body }) => `${user.login}: ${body}`)
}

test('the first issue of somebody gets a welcome', async () => {
  assert.deepEqual(await openIssue('dana', 'It hums'), [
    'greeter[bot]: Welcome to rocket, @dana. Thank you for your first issue!',
  ])
})

test('further issues get none', async () => {
  assert.deepEqual(await openIssue('eli', 'It hums'), [])
})
