import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { type BelfryServer, startBelfry } from 'belfry/testing'
import { until } from '#test/machine.ts'

type Login = 'alice' | 'bob'

let server: BelfryServer<Login>
let receiver: Server
let answer: (request: IncomingMessage, response: ServerResponse) => void
let received = 0

// In a suite, because files share a process and hooks outside of one are for all of them.
describe('webhooks and sign-in of a test server', () => {
  before(async () => {
    receiver = createServer((request, response) => {
      received++
      answer(request, response)
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    server = await startBelfry({
      seed: {
        users: [{ login: 'alice' }, { login: 'bob' }],
        repositories: [{ name: 'alice/tower', hooks: [{ url, events: ['issues'] }] }],
        oauth_applications: [{ name: 'bells', owner: 'alice', callback_url: 'http://127.0.0.1:9/callback' }],
      },
    })
  })
  afterEach(() => {
    answer = (_, response) => response.end()
    return server.reset()
  })
  after(async () => {
    await server.close()
    receiver.closeAllConnections()
    receiver.close()
  })

  const call = (path: string, body?: object) =>
    fetch(`${server.url}/api/v3${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${server.users.alice.token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
  const openIssue = (title: string) => call('/repos/alice/tower/issues', { title })

  test('settled waits for all deliveries, and says when a receiver does not answer', async () => {
    answer = (_, response) => setTimeout(() => response.end(), 50)
    for (const title of ['one', 'two', 'three']) await openIssue(title)
    const all = await server.deliveries.settled()
    assert.deepEqual(
      all.map(({ event, status_code }) => [event, status_code]),
      Array.from({ length: 3 }, () => ['issues', 200]),
    )
    answer = () => {}
    await openIssue('four')
    await assert.rejects(server.deliveries.settled({ timeout: 50 }), /After 50 ms, [1-9]\d* jobs and deliveries are still due/)
  })

  test('a reset awaits deliveries in flight, and until then receivers see the old state', async () => {
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    let seen = 0
    answer = async (_, response) => {
      begun.resolve()
      await gate.promise
      seen = (await call('/repos/alice/tower/issues/1')).status
      response.end()
    }
    await openIssue('one')
    await begun.promise
    const reset = server.reset()
    gate.resolve()
    await reset
    assert.equal(seen, 200)
    assert.equal((await call('/repos/alice/tower/issues/1')).status, 404)
  })

  test('a reset cuts off deliveries that do not end, and drops those that wait', async () => {
    received = 0
    let closed = 0
    answer = (request) => request.socket.once('close', () => closed++)
    for (let count = 0; count < 15; count++) await openIssue(`issue ${count}`)
    // The others wait, because a hook gets ten at a time.
    await until('ten have begun', () => received >= 10)
    await server.reset()
    await until('they are cut off', () => closed === 10)
    answer = (_, response) => response.end()
    await openIssue('afterwards')
    const deliveries = await server.deliveries.settled()
    assert.deepEqual([deliveries.length, received], [1, 11])
  })

  test('payloads have the types of their event, and users are known by name', async () => {
    await openIssue('one')
    const { payload } = await server.deliveries.next({ event: 'issues', action: 'opened' })
    const title: string = payload.issue.title
    assert.equal(title, 'one')
    // @ts-expect-error The payload of an issue has no commits.
    assert.equal(payload.commits, undefined)
    // @ts-expect-error The seed has no such user.
    assert.equal(server.users.adaa, undefined)
    // An event that is not known is not refused.
    assert.equal((await server.deliveries.list({ event: 'of our own' })).length, 0)
  })

  test('a user agrees and refuses in the OAuth web flow', async () => {
    const { client_id, client_secret } = server.oauthApplications.bells ?? { client_id: '', client_secret: '' }
    const flow = `${server.url}/login/oauth/authorize?${new URLSearchParams({ client_id, scope: 'repo', state: 'x y' })}`
    const callback = new URL(await server.authorize(flow, { user: 'bob' }))
    assert.equal(`${callback.origin}${callback.pathname}`, 'http://127.0.0.1:9/callback')
    assert.equal(callback.searchParams.get('state'), 'x y')
    const exchanged = await fetch(`${server.url}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ client_id, client_secret, code: callback.searchParams.get('code') ?? '' }),
    })
    const { access_token, scope } = await exchanged.json()
    assert.equal(scope, 'repo')
    const user = await fetch(`${server.url}/api/v3/user`, { headers: { authorization: `Bearer ${access_token}` } })
    assert.equal((await user.json()).login, 'bob')

    const refused = new URL(await server.authorize(flow, { user: 'alice', deny: true }))
    assert.equal(refused.searchParams.get('error'), 'access_denied')
    await assert.rejects(server.authorize(server.url, { user: 'bob' }), /is not the address of the OAuth flow/)
    await assert.rejects(server.authorize(flow, { user: 'carol' as Login }), /no user of the seed\. Users are: admin, alice, bob/)
    const unknown = `${server.url}/login/oauth/authorize?client_id=unknown`
    await assert.rejects(server.authorize(unknown, { user: 'bob' }), /Not Found/)
  })
})
