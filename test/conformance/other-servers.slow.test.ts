import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { certificateOf } from '#test/certificates.ts'
import { refusalOf, runConformance } from './checked-server.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

async function openServer(listener: Listener, isSecure = false) {
  const server = isSecure ? createSecureServer(certificateOf('localhost'), listener) : createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${isSecure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** An API of the versioned variant that knows a user and nothing else, but for the given operations. */
const smallApi =
  (operations: Record<string, Listener> = {}, headers: Record<string, string> = {}): Listener =>
  (request, response) => {
    const path = request.url ?? ''
    const found = Object.entries(operations).find(([operation]) => `${request.method} ${path}`.startsWith(operation))
    if (found) return found[1](request, response)
    if (path !== '/user') return json(response, 404, { message: 'Not Found' })
    const token = /^Bearer (ada|ben)$/.exec(request.headers.authorization ?? '')?.[1]
    return token ? json(response, 200, { login: token }, headers) : json(response, 401, { message: 'Bad credentials' })
  }

const bodyOf = async (request: IncomingMessage) => JSON.parse(await text(request)) as Record<string, unknown>

const secrets = { BELFRY_CONFORMANCE_TOKEN: 'ada', BELFRY_CONFORMANCE_OTHER_TOKEN: 'ben' }
const only = (...words: string[]) => words.flatMap((word) => ['--only', word])

test('a web site, a server that does not answer, and an unknown certificate end the run with the reason', async () => {
  const page: Listener = (_, response) => response.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>')
  await using site = await openServer(page)
  await using silent = await openServer(() => {})
  await using secure = await openServer(page, true)
  const cases: [args: string[], said: RegExp][] = [
    [
      [site.url],
      /^There is no API at .*: GET .*\/api\/v3\/user gave status 200 \(text\/html\), and GET .*\/user gave status 200/,
    ],
    [
      [site.url, '--variant', 'versioned'],
      /^GET .*\/user gave status 200 \(text\/html\) for the token of --token, but no user\./,
    ],
    [[silent.url, '--timeout', '1'], /^http.* cannot be reached: no response within 1 s\./],
    [[silent.url, '--timeout', '1', '--variant', 'self-hosted'], /^http.* cannot be reached: no response within 1 s\./],
    [[secure.url], /^https.* cannot be reached: self-signed certificate.* Set NODE_EXTRA_CA_CERTS/],
    [['http://127.0.0.1:9', '--variant', 'self-hosted'], /^http:\/\/127\.0\.0\.1:9\/ cannot be reached: /],
  ]
  for (const [args, said] of cases) {
    const { code, stderr } = await refusalOf([...args, '--token', 'ada'])
    assert.match(stderr, said)
    assert.deepEqual([code, stderr.trim().split('\n').length], [1, 1], stderr)
  }
})

test('a token that is refused, or without the scopes that a run needs, ends the run', async () => {
  await using weak = await openServer(smallApi({}, { 'x-oauth-scopes': 'gist, repo' }))
  await using none = await openServer(smallApi({}, { 'x-oauth-scopes': '' }))
  const cases: [args: string[], said: RegExp][] = [
    [[weak.url, '--token', 'eve'], /^The server does not accept the token of --token\./],
    [[weak.url, '--token', 'ada'], /^The token of --token lacks the scope delete_repo\. It has: gist, repo\.$/m],
    [[none.url, '--token', 'ada'], /^The token of --token lacks the scope repo and delete_repo\. It has: none\.$/m],
  ]
  for (const [args, said] of cases) {
    const { code, stderr } = await refusalOf(args)
    assert.match(stderr, said)
    assert.equal(code, 1)
  }
})

test('what a server lacks, and the specification does not describe, skips the checks that need it', async () => {
  await using server = await openServer(smallApi())
  const { report, status, printed } = await runConformance(
    [server.url, ...only('hooks.create', 'hooks.delete', 'stargazers.list')],
    secrets,
  )
  assert.deepEqual(
    [...new Set(report.results.map(({ reason }) => reason))],
    ['It needs POST /user/repos, which is not part of the specification: the server gave status 404.'],
  )
  assert.deepEqual([report.left, report.summary.failed], [[], 0])
  assert.match(printed, /No check could be made\.\n\d+ checks in \d+ s: 0 passed, 0 failed, \d+ skipped\.\n$/)
  assert.equal(status, 1, 'a run that proves nothing is no success')
})

test('a server that does not delete repositories gets a single one', async () => {
  const made: string[] = []
  const api = smallApi({
    'POST /user/repos': (_, response) => json(response, 201, { id: made.push('repository') }),
    'GET /repos/ada/conformance-': (_, response) => json(response, 200, {}),
  })
  await using server = await openServer(api)
  const { report, status, printed } = await runConformance([server.url, ...only('hooks', 'star')], secrets)
  assert.equal(made.length, 1)
  assert.equal(report.left.length, 1)
  assert.match(printed, /Not deleted:\n {2}repository ada\/conformance-\S+ \(DELETE \S+ gave status 404\)/)
  assert.match(printed, /: It needs repositories, and the server does not delete them: DELETE \S+ gave status 404\./)
  assert.equal(status, 1)
})

test('a server with repositories only: nothing is left of them, and its 404 for everything else proves nothing', async () => {
  const repositories = new Set<string>()
  const repository: Listener = async (request, response) => {
    const name = request.url?.split('/').at(-1) ?? ''
    if (!repositories.has(name)) return json(response, 404, {})
    if (request.method !== 'GET') repositories.delete(name)
    // A renamed one has no redirect here.
    if (request.method === 'PATCH') repositories.add(`${(await bodyOf(request)).name}`)
    return json(response, request.method === 'DELETE' ? 204 : 200, { id: 1 })
  }
  const create: Listener = async (request, response) => {
    repositories.add(`${(await bodyOf(request)).name}`)
    json(response, 201, { id: 1 })
  }
  const of = (method: string) => [`${method} /repos/ada/conformance-`, repository]
  const operations = Object.fromEntries([['POST /user/repos', create], ...['GET', 'PATCH', 'DELETE'].map(of)])
  await using server = await openServer(smallApi(operations))
  const chosen = only('events.network.moved', 'star.put')
  const { report } = await runConformance([server.url, ...chosen], secrets)
  const outcomes = new Map(report.results.map(({ id, reason, failure }) => [id, reason ?? failure?.expected]))
  assert.equal(outcomes.get('events.network.moved'), 'status 301')
  assert.equal(outcomes.get('star.put'), 'status 204')
  assert.equal(outcomes.get('star.put.unknown'), 'It expects status 404, but no check shows that the server has the operation.')
  assert.deepEqual([report.left, [...repositories]], [[], []])
})

test('a server that stops answering ends the run, and not after the time limit of each request', async () => {
  let unanswered = 0
  const api = smallApi()
  await using server = await openServer((request, response) => {
    // The run begins with three requests.
    if (request.url?.endsWith('/user') && unanswered === 0) api(request, response)
    else unanswered++
  })
  const { report, status } = await runConformance([server.url, '--timeout', '1', ...only('events', 'star')], secrets)
  const gone = report.results.filter(({ reason }) => reason === 'The server stopped answering during the run.')
  assert.ok(gone.length > 50, `${gone.length} checks were not made`)
  assert.ok(unanswered < 20, `${unanswered} requests were sent`)
  const [failure] = report.results.flatMap((result) => result.failure ?? [])
  assert.deepEqual([failure?.expected, failure?.got, failure?.exchange?.status], ['a response', 'none within 1 s', 0])
  assert.equal(status, 1)
})

test('a link to another server fails its check, and is not followed', async () => {
  const asked: string[] = []
  await using other = await openServer((request, response) => response.end(`${asked.push(`${request.url}`)}`))
  const links = { timeline_url: `${other.url}/timeline` }
  await using server = await openServer(smallApi({ 'GET /feeds': (_, response) => json(response, 200, links) }))
  const { report } = await runConformance([server.url, ...only('feeds.atom.timeline')], secrets)
  const { expected, got, exchange } = report.results[0]?.failure ?? {}
  assert.deepEqual([expected, got, exchange?.url], [`a link to ${server.url}`, links.timeline_url, `${server.url}/feeds`])
  assert.deepEqual(asked, [])
})

test('a run ends after its limit, and says so', async () => {
  const slow: Listener = async (_, response) => {
    await sleep(300)
    json(response, 500, {})
  }
  await using server = await openServer(smallApi({ 'GET /feeds': slow }))
  const args = [server.url, '--limit', '1', '--concurrency', '1', ...only('feeds')]
  const { report, status, printed } = await runConformance(args, secrets)
  assert.deepEqual([report.overdue, report.results.at(-1)?.reason], [true, 'The run took its limit of 1 s.'])
  assert.match(printed, /The run took its limit: not all checks were made\./)
  assert.equal(status, 1)
})
