import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, openForge } from '#test/forge.ts'

test('the root document tells where everything is, with the base of the variant asked', async () => {
  await using forge = await openForge()
  for (const client of [forge.nobody, forge.nobodyVersioned]) {
    const root = await client.read('/')
    assert.equal(root.current_user_url, `${client.base}/user`)
    assert.equal(root.starred_url, `${client.base}/user/starred{/owner}{/repo}`)
    assert.equal(root.current_user_authorizations_html_url, `${forge.web}/settings/connections/applications{/client_id}`)
    assert.ok('authorizations_url' in root && 'rate_limit_url' in root)
  }
})

test('every answer carries the headers of the interface', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada', ['repo', 'user'])
  const { headers } = await ada.get('/user')
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.match(headers.get('access-control-expose-headers') ?? '', /ETag, Link, .*X-OAuth-Scopes/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('content-security-policy'), "default-src 'none'")
  assert.equal(headers.get('cache-control'), 'private, max-age=60, s-maxage=60')
  assert.equal(headers.get('x-oauth-scopes'), 'repo, user')
  assert.equal(headers.get('x-accepted-oauth-scopes'), 'read:user, user')
  const anonymous = (await forge.nobody.get('/')).headers
  assert.equal(anonymous.get('cache-control'), 'public, max-age=60, s-maxage=60')
  assert.equal(anonymous.get('x-oauth-scopes'), null)
})

test('a browser on another site may ask first, anywhere', async () => {
  await using forge = await openForge()
  for (const path of ['/', '/user', '/repos/a/b/hooks', '/nothing']) {
    const answer = await forge.nobodyVersioned
      .with({ origin: 'https://elsewhere.example', 'access-control-request-method': 'PATCH' })
      .options(path)
    assert.equal(answer.status, 204)
    assert.equal(answer.headers.get('access-control-allow-methods'), 'GET, POST, PATCH, PUT, DELETE')
    assert.match(answer.headers.get('access-control-allow-headers') ?? '', /Authorization, Content-Type, If-Match/)
    assert.equal(answer.headers.get('access-control-max-age'), '86400')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  }
})

const list = (header: string | null) => (header ?? '').toLowerCase().split(', ')

test('a preflight allows every header that the API reads, and a cache gets to know those that change a body', async () => {
  await using forge = await openForge()
  const folder = import.meta.dirname
  const files = (await readdir(folder)).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'health.ts',
  )
  const sources = (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
  const read = new Set([...sources.matchAll(/'([a-z]+(?:-[a-z]+)+)'(?:\]|\?: string)/g)].map(([, name = '']) => name))
  // Browsers set these themselves.
  for (const name of ['content-length', 'transfer-encoding']) read.delete(name)
  assert.ok(read.has('last-event-id') && read.has('x-github-api-version') && read.has('if-none-match'))
  const { headers } = await forge.nobodyVersioned.options('/events')
  const allowed = list(headers.get('access-control-allow-headers'))
  assert.deepEqual(
    [...read, 'authorization', 'traceparent'].filter((name) => !allowed.includes(name)),
    [],
  )
  for (const client of [forge.nobody, forge.nobodyVersioned]) {
    const vary = list((await client.get('/')).headers.get('vary'))
    for (const name of ['accept', 'authorization', 'x-service-api-version', 'x-github-api-version'])
      assert.ok(vary.includes(name))
  }
})

test('the OpenAPI document is valid 3.1, and has the operations of its variant', async () => {
  await using forge = await openForge()
  for (const client of [forge.nobody, forge.nobodyVersioned]) {
    const document = await client.read('/openapi.json')
    assert.equal(document.openapi, '3.1.0')
    assert.equal(document.servers[0].url, client.base)
    const verdict = await new Validator().validate(structuredClone(document))
    assert.ok(verdict.valid, JSON.stringify(verdict.errors?.slice(0, 3)))
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation.operationId),
    )
    assert.equal(new Set(ids).size, ids.length, 'an operation is named twice')
  }
  const paths = (await forge.nobody.read('/openapi.json')).paths
  assert.ok('/repos/{owner}/{repo}' in paths && !('/versions' in paths) && !('/hooks' in paths))
  assert.ok('/versions' in (await forge.nobodyVersioned.read('/openapi.json')).paths)
})

test('/metrics is Prometheus text for this machine, and closed behind every proxy', async () => {
  await using forge = await openForge()
  await forge.nobody.get('/')
  const { host, port } = new URL(forge.web)
  const ask = (lines: string[], version = '1.1') => statusOf(forge.web, [`GET /metrics HTTP/${version}`, ...lines])
  const local = await fetch(`${forge.web}/metrics`)
  assert.match(await local.text(), /belfry_http_request_duration_seconds_count\{listener="web",method="GET",status="2xx"\} \d/)
  assert.equal(await ask([`Host: localhost:${port}`]), 200)
  for (const [lines, version] of [
    [['Host: belfry.example'], '1.1'],
    // A proxy on another port of this machine that passes on what it was asked for.
    [['Host: 127.0.0.1:8080'], '1.1'],
    [['Host: localhost'], '1.1'],
    // nginx with nothing but proxy_pass.
    [[`Host: ${host}`], '1.0'],
    ...[
      'X-Forwarded-For: 203.0.113.7',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 203.0.113.7',
      'Forwarded: for=x',
      'Via: 1.1 x',
    ].map((line): [string[], string] => [[`Host: ${host}`, line], '1.1']),
  ] as [string[], string][]) {
    assert.equal(await ask(lines, version), 403, lines.join())
  }
})

test('/metrics measures webhooks, imports, git, storage and the disk', async () => {
  await using forge = await openForge({ own_database: true })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const config = { url: 'https://receiver.example/hook' }
  await expect(201, await ada.post('/repos/ada/engine/hooks', { config }))
  await expect(201, await ada.post('/repos/ada/engine/hooks', { config: { url: `${config.url}/other` }, active: false }))
  await ada.owns('attic')
  await expect(201, await ada.put('/repos/ada/attic/import', { vcs_url: 'https://source.example/attic' }))
  forge.clock.advance(90_000)
  const text = await (await fetch(`${forge.web}/metrics`)).text()
  for (const line of [
    'belfry_webhooks{state="active"} 1',
    'belfry_webhooks{state="inactive"} 1',
    'belfry_webhooks{state="paused"} 0',
    'belfry_webhook_deliveries_total{outcome="delivered"} 0',
    'belfry_webhook_deliveries_waiting{state="due"} 1',
    'belfry_webhook_deliveries_oldest_seconds{state="due"} 90',
    'belfry_webhook_deliveries_oldest_seconds{state="postponed"} 0',
    'belfry_imports{status="detecting"} 1',
    'belfry_imports{status="complete"} 0',
    'belfry_git_processes{kind="read"} 0',
  ])
    assert.ok(text.includes(`${line}\n`), line)
  assert.match(text, /^belfry_storage_bytes\{kind="database"\} [1-9]/m)
  assert.match(text, /^belfry_disk_bytes\{state="free"\} [1-9]/m)
})

test('with a token set, /metrics is for its bearer alone', async () => {
  const token = 'a-token-for-the-metrics-only'
  await using forge = await openForge({ settings: { BELFRY_METRICS_TOKEN: token } })
  const ask = (headers: Record<string, string>) => fetch(`${forge.web}/metrics`, { headers })
  assert.equal((await ask({})).status, 403)
  assert.equal((await ask({ authorization: 'Bearer wrong' })).status, 403)
  const local = await ask({ authorization: `Bearer ${token}` })
  assert.match(await local.text(), /^process_cpu_seconds_total \d/m)
  for (const headers of [{ 'x-forwarded-for': '203.0.113.7' }, { via: '1.1 proxy' }])
    assert.equal((await ask({ authorization: `Bearer ${token}`, ...headers })).status, 200)
  assert.equal((await fetch(`${forge.versioned}/metrics`)).status, 404)
})

test('a request with two Host headers is refused, on both listeners', async () => {
  await using forge = await openForge()
  for (const [base, path] of [
    [forge.web, '/login'],
    [forge.web, '/api/v3/'],
    [forge.web, '/no/such/page'],
    [forge.versioned, '/'],
  ] as const) {
    const { host } = new URL(base)
    assert.equal(await statusOf(base, [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Host: evil.example']), 400, path)
    assert.equal(await statusOf(base, [`GET ${path} HTTP/1.1`, `hOST: ${host}`, `Host: ${host}`]), 400, path)
  }
})

/** The status of a request that is written by hand. */
async function statusOf(base: string, lines: string[]): Promise<number> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(await readText(socket)) ?? []
  return Number(status)
}
