import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, errorsOf, expect, openForge } from '#test/forge.ts'
import { type Document, type Operation, openChecker, operationsOf, seeded, valid } from '#test/openapi.ts'

/** Repositories of ada's in every state that matters: with and without contents, hidden, renamed, without issues, not there. */
const repositories = ['engine', 'engine', 'empty', 'secret', 'old-name', 'quiet', 'nothing']

async function openWorld() {
  const forge = await openForge()
  const ada = await forge.person('ada')
  const [eve] = [await forge.person('eve', []), await forge.person('ben')]
  await forge.organization('acme', ada)
  for (const name of ['engine', 'empty', 'secret', 'former', 'quiet']) {
    await ada.owns(name, { auto_init: name === 'engine', private: name === 'secret', has_issues: name !== 'quiet' })
  }
  await expect(200, await ada.patch('/repos/ada/former', { name: 'old-name' }))
  await expect(200, await ada.patch('/repos/ada/old-name', { name: 'new-name' }))
  const repo = '/repos/ada/engine'
  for (const [path, body] of [
    [`${repo}/issues`, { title: 'Smoke', body: 'It smokes' }],
    [`${repo}/issues/1/comments`, { body: 'So it does' }],
    [`${repo}/labels`, { name: 'bug', color: 'ff0000' }],
    [`${repo}/milestones`, { title: 'One' }],
    [`${repo}/releases`, { tag_name: 'v1' }],
    [`${repo}/hooks`, { config: { url: 'belfry:listen' } }],
    ['/orgs/acme/teams', { name: 'crew' }],
  ] as const) {
    await expect(201, await ada.post(path, body))
  }
  return Object.assign(forge, { ada, eve })
}

const hostileNames = [
  '',
  '0',
  '-1',
  '999999999',
  '9'.repeat(20),
  '%00',
  '..%2f..',
  '%ff',
  'ü',
  'x'.repeat(250),
  'x'.repeat(300),
  "'--",
]
const known: Record<string, string> = {
  owner: 'ada',
  org: 'acme',
  username: 'ben',
  team_slug: 'crew',
  name: 'bug',
  branch: 'main',
  ref: 'main',
  path: 'README.md',
}

type Pick = ReturnType<typeof seeded>

/** Most often what is there, so that the endpoint itself is reached. */
function addressOf({ path, parameters }: Operation, pick: Pick, hostile: boolean) {
  const repo = pick(repositories)
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    hostile && pick([true, false]) ? pick(hostileNames) : name === 'repo' ? repo : (known[name] ?? '1'),
  )
  const query = parameters.filter((parameter) => parameter.in === 'query')
  if (!query.length || pick([true, false])) return named
  // Eight long values still fit into an address: longer ones are refused before any operation is found.
  const values = ['', '0', '2', '-1', '9'.repeat(20), 'x', '%00', '%ff', 'x'.repeat(1800), '2026-01-01T00:00:00Z']
  return `${named}?${query.map(({ name }) => `${name}=${pick(values)}`).join('&')}`
}

const wrong = [null, 1, -1, 1e99, true, '', 'x', '\0', '\ud800', 'x'.repeat(70_000), [], [{}], {}, { x: { y: 1 } }]

function bodyOf({ requestBody, method }: Operation, document: Document, pick: Pick, hostile: boolean): string | null {
  if (method === 'GET') return null
  const schema = requestBody?.content['application/json'].schema
  if (!hostile) return schema ? JSON.stringify(valid(schema, document)) : null
  const whole = (schema ? valid(schema, document) : {}) as Record<string, unknown>
  const names = Object.keys(whole)
  const name = names.length ? pick(names) : 'x'
  const { [name]: _, ...rest } = whole
  return pick<string | null>([
    null,
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '\ufeff{}',
    '{}',
    JSON.stringify(rest),
    JSON.stringify({ ...whole, [name]: pick(wrong) }),
    JSON.stringify({ ...whole, [name]: pick(wrong) }),
    JSON.stringify(Object.fromEntries(names.map((each) => [each, pick(wrong)]))),
    JSON.stringify({ ...whole, unknown: pick(wrong) }),
  ])
}

const odd: Record<string, string>[] = [
  { accept: 'text/html' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': ';;' },
  { 'if-none-match': '*' },
  { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  { 'x-service-api-version': '1999-01-01' },
  { accept: 'application/vnd.github.v3.star+json, application/json' },
  { authorization: 'Bearer wrong' },
  { authorization: `Basic ${Buffer.from('ada:wrong').toString('base64')}` },
  { authorization: 'Digest x' },
]

/** First what leaves things as they are, and what takes them away last. */
const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Sends each operation of a variant some requests. */
export function testAnswers(variant: 'self-hosted' | 'versioned', kind: 'valid' | 'hostile', times: number) {
  test(`${kind} requests to each operation of the ${variant} variant get what its document says, and never a 5xx`, async () => {
    await using forge = await openWorld()
    const base = variant === 'versioned' ? forge.versioned : `${forge.web}/api/v3`
    const document: Document = await forge.ada.read(`${base}/openapi.json`)
    const check = openChecker(document)
    const found: string[] = []
    const requests = requestsTo(forge, document, kind, times)
    // Ten at a time: enough to be quick, few enough to leave no other test waiting.
    for (let at = 0; at < requests.length; at += 10) {
      const answers = requests.slice(at, at + 10).map(async ({ operation, named, address, headers, body }) => {
        const { method, operationId } = operation
        const answer = await fetch(`${base}${address}`, { method, headers, body, redirect: 'manual' })
        const type = answer.headers.get('content-type') ?? ''
        const stream = type.startsWith('text/event-stream')
        const text = stream ? '' : await answer.text()
        if (stream) await answer.body?.cancel()
        if (named && !answer.headers.has('x-accepted-oauth-scopes')) found.push(`${operationId} is not served`)
        const fault = check(operation, answer.status, type, text)
        if (fault) found.push(`${operationId}: ${method} ${address.slice(0, 150)} ${body?.slice(0, 150)}\n  ${fault}`)
      })
      await Promise.all(answers)
    }
    assert.deepEqual(found, [])
    assert.deepEqual(errorsOf(forge), [])
  })
}

function requestsTo(forge: Awaited<ReturnType<typeof openWorld>>, document: Document, kind: 'valid' | 'hostile', times: number) {
  const pick = seeded(1)
  const hostile = kind === 'hostile'
  const callers: Client[] = [forge.ada, forge.ada, forge.admin, forge.eve, forge.nobody]
  const operations = operationsOf(document).sort((a, b) => order.indexOf(a.method) - order.indexOf(b.method))
  return operations.flatMap((operation) =>
    Array.from({ length: times }, (_, index) => {
      const owners = !hostile && index === 0
      const { headers } = owners ? forge.ada : pick(callers)
      return {
        operation,
        // Only a route that is served names the scopes that it accepts. One for applications or apps looks at no token of a user.
        named: owners && !operation.security?.some((scheme) => 'client' in scheme || 'app' in scheme),
        address: addressOf(operation, pick, hostile),
        headers: { ...headers, ...(hostile && pick([true, false, false]) ? pick(odd) : {}) },
        body: bodyOf(operation, document, pick, hostile),
      }
    }),
  )
}
