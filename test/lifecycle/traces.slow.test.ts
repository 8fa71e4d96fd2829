import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCollector, type ReceivedSpan } from '#test/collector.ts'
import { expect, openForge } from '#test/forge.ts'
import { freePort, until } from '#test/machine.ts'
import { checkoutBelfry } from '#test/packed.ts'
import { Host, newToken, openDatabase } from '#test/process.ts'
import { openReceiver } from '#test/webhooks.ts'

const ours = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
const traceparent = `00-${ours.trace}-${ours.span}-01`

const attribute = ({ attributes }: ReceivedSpan, name: string) => {
  const { stringValue, intValue } = attributes.find(({ key }) => key === name)?.value ?? {}
  return stringValue ?? intValue
}

/** Names from a span up to the request. */
function ancestors(spans: ReceivedSpan[], span: ReceivedSpan | undefined): string[] {
  return span
    ? [
        span.name,
        ...ancestors(
          spans,
          spans.find(({ spanId }) => spanId === span.parentSpanId),
        ),
      ]
    : []
}

test('a request, its transaction, the fan-out and the webhook delivery are one trace across processes', async () => {
  await using collector = await openCollector()
  await using receiver = await openReceiver()
  await using host = await Host.open()
  await using database = await openDatabase()
  const token = newToken()
  const settings = {
    DATABASE_URL: database.url,
    BELFRY_ADMIN_TOKEN: token,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collectors-secret',
    BELFRY_WEBHOOK_TRACEPARENT: 'on',
  }
  const web = await host.start({ settings: { ...settings, BELFRY_ROLES: 'web,git,api', OTEL_SERVICE_NAME: 'belfry-web' } })
  const worker = await host.start({ settings: { ...settings, BELFRY_ROLES: 'worker' }, ready: /ready|jobs/ })
  await expect(201, await web.post('/api/v3/user/repos', token, { name: 'engine-marker' }))
  const hook = { config: { url: receiver.url, secret: 'hook-marker' }, events: ['issues'] }
  await expect(201, await web.post('/api/v3/repos/admin/engine-marker/hooks', token, hook))
  const answer = await fetch(`${web.web}/api/v3/repos/admin/engine-marker/issues?q=query-marker`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, traceparent },
    body: JSON.stringify({ title: 'title-marker', body: 'body-marker for @admin, mail-marker@example.com' }),
  })
  await expect(201, answer)
  const mine = () => collector.spans.filter(({ traceId }) => traceId === ours.trace)
  const named = (name: string) => mine().find((span) => span.name === name)
  const wanted = ['fan-out', 'webhook delivery', 'job tell', 'publish', 'POST /api/v3/repos/:owner/:repo/issues']
  await until('all spans are sent', () => wanted.every(named))

  const spans = mine()
  const request = 'POST /api/v3/repos/:owner/:repo/issues'
  assert.deepEqual(ancestors(spans, named('publish')), ['publish', 'transaction', request])
  assert.deepEqual(ancestors(spans, named('fan-out')).slice(0, 3), ['fan-out', 'transaction', 'job tell'])
  assert.equal(ancestors(spans, named('fan-out')).at(-1), request)
  assert.equal(ancestors(spans, named('webhook delivery')).at(-1), request)
  assert.equal(named(request)?.parentSpanId, ours.span)
  assert.equal(named(request)?.service, 'belfry-web')
  assert.equal(named('webhook delivery')?.service, 'belfry')
  for (const span of spans) assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name)
  const delivery = named('webhook delivery')
  assert.ok(delivery)
  assert.equal(attribute(delivery, 'http.response.status_code'), '200')
  assert.equal(attribute(delivery, 'belfry.event'), 'issues')

  const issue = receiver.received.find(({ headers }) => headers['x-github-event'] === 'issues')
  assert.equal(issue?.headers.traceparent, `00-${ours.trace}-${delivery.spanId}-01`)
  const sent = collector.bodies.join('\n')
  assert.doesNotMatch(sent, /marker|@example|admin/)
  assert.ok(!sent.includes(token) && !sent.includes(receiver.url))
  assert.equal(collector.headers[0]?.authorization, 'Bearer collectors-secret')
  assert.equal(await worker.stop(), '0')
  assert.equal(await web.stop(), '0')
})

test('without a collector, nothing of tracing is loaded', async () => {
  await using host = await Host.openUsed()
  const loaded = join(host.folder, 'loaded')
  const hooks = join(host.folder, 'hooks.mjs')
  await writeFile(
    hooks,
    `import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (appendFileSync(${JSON.stringify(loaded)}, url + '\\n'), next(url, context)) })`,
  )
  // A built program has few files, which do not show what is loaded.
  const belfry = await host.start({ program: checkoutBelfry, settings: { NODE_OPTIONS: `--import=${hooks}` } })
  await expect(201, await belfry.post('/api/v3/user/repos', host.token, { name: 'engine' }))
  await expect(201, await belfry.post('/api/v3/repos/admin/engine/issues', host.token, { title: 'Smoke' }))
  const names = readFileSync(loaded, 'utf8').split('\n')
  assert.ok(names.some((name) => name.endsWith('/platform/database.ts')))
  const tracing = names.filter((name) => name.includes('/tracing/')).map((name) => name.split('/').at(-1))
  assert.deepEqual(tracing, ['open-tracer.ts'])
  assert.equal(await belfry.stop(), '0')
})

test('a collector that is away, or that hangs, delays no request', async () => {
  await using hanging = await openCollector(() => 0)
  for (const endpoint of [`http://127.0.0.1:${await freePort()}`, hanging.url]) {
    await using forge = await openForge({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, own_database: true })
    const ada = await forge.person('ada')
    for (let count = 0; count < 20; count++) await ada.read('/user')
    await ada.owns('engine')
  }
})

test('spans that the collector refuses are dropped and counted', async () => {
  await using collector = await openCollector(() => 400)
  await using forge = await openForge({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, own_database: true })
  const ada = await forge.person('ada')
  await ada.read('/user')
  const dropped = async () => {
    const text = await (await fetch(`${forge.web}/metrics`)).text()
    return Number(/^belfry_trace_spans_total\{outcome="dropped"\} (\d+)$/m.exec(text)?.[1])
  }
  await until('a span is counted as dropped', async () => (await dropped()) > 0)
  assert.ok(forge.logged.some((line) => line.includes('traces could not be sent') && line.includes('answered 400')))
})

test('a share of 0 traces nothing, and a client that does not sample its trace is not traced', async () => {
  await using collector = await openCollector()
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  await using none = await openForge({ settings: { ...settings, OTEL_TRACES_SAMPLER_ARG: '0' }, own_database: true })
  await none.admin.read('/user')
  await using all = await openForge({ settings, own_database: true })
  await all.admin.with({ traceparent: traceparent.replace(/01$/, '00') }).read('/user')
  await all.admin.with({ traceparent: 'hostile\u00ff-marker' }).read('/users/admin')
  await until('the last request is sent', () => collector.spans.some(({ name }) => name === 'GET /api/v3/users/:username'))
  assert.deepEqual(
    collector.spans.filter(({ kind }) => kind === 2).map(({ name }) => name),
    ['GET /api/v3/users/:username'],
  )
})
