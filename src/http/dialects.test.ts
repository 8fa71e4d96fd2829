import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { readAccept } from './dialects.ts'

const accepts: [string | undefined, { brand: string; takes_json: boolean; media_type?: string }][] = [
  [undefined, { brand: 'service', takes_json: true, media_type: 'service.v3; format=json' }],
  ['', { brand: 'service', takes_json: true }],
  ['*/*', { brand: 'service', takes_json: true }],
  ['application/json', { brand: 'service', takes_json: true }],
  ['APPLICATION/JSON', { brand: 'service', takes_json: true }],
  ['application/*;q=0.1', { brand: 'service', takes_json: true }],
  ['text/html,application/xhtml+xml,*/*;q=0.8', { brand: 'service', takes_json: true }],
  ['application/vnd.service+json', { brand: 'service', takes_json: true }],
  ['application/vnd.service.v3+json', { brand: 'service', takes_json: true, media_type: 'service.v3; format=json' }],
  [
    'application/vnd.service.v3.star+json',
    { brand: 'service', takes_json: true, media_type: 'service.v3; param=star; format=json' },
  ],
  ['application/vnd.github+json', { brand: 'github', takes_json: true, media_type: 'github.v3; format=json' }],
  ['application/vnd.github.v3', { brand: 'github', takes_json: true, media_type: 'github.v3; format=json' }],
  [
    'application/vnd.github.v3.star+json',
    { brand: 'github', takes_json: true, media_type: 'github.v3; param=star; format=json' },
  ],
  ['application/vnd.github.machine-man-preview+json', { brand: 'github', takes_json: true }],
  ['text/html, application/vnd.github.star+json', { brand: 'github', takes_json: true }],
  ['application/xml', { brand: 'service', takes_json: false }],
  ['text/html', { brand: 'service', takes_json: false }],
  ['application/json;q=0', { brand: 'service', takes_json: false }],
  ['*/*;q=0.0', { brand: 'service', takes_json: false }],
  ['application/vnd.gitlab+xml', { brand: 'service', takes_json: false }],
]

for (const [header, wanted] of accepts) {
  test(`Accept ${header} is understood`, () => {
    const { brand, takes_json, media_type } = readAccept(header)
    assert.deepEqual({ brand, takes_json, ...(wanted.media_type && { media_type }) }, wanted)
  })
}

test('any Accept gets JSON, but one that asks for a stream only is 415 where nothing is streamed', async () => {
  await using forge = await openForge()
  for (const accept of ['text/html', 'application/xml', 'nonsense', 'text/html, text/event-stream;q=0']) {
    const shown = await forge.nobody.with({ accept }).get('/')
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'application/json; charset=utf-8'], accept)
  }
  const answer = await forge.nobody.with({ accept: 'text/event-stream' }).get('/')
  assert.equal(answer.status, 415)
  const { message, status } = (await answer.json()) as { message: string; status: string }
  assert.equal(message, "Unsupported 'Accept' header: 'text/event-stream'. Must accept 'application/json'.")
  assert.equal(status, '415')
})

test('the github dialect has its own header names, and only there', async () => {
  await using forge = await openForge()
  const spec = await forge.nobodyVersioned.get('/')
  assert.ok(spec.headers.get('x-service-request-id'))
  assert.equal(spec.headers.get('x-service-media-type'), 'service.v3; format=json')
  assert.equal(spec.headers.get('x-service-api-version-selected'), '2022-11-28')
  assert.equal(spec.headers.get('x-github-request-id'), null)
  const github = await forge.nobodyVersioned.with({ accept: 'application/vnd.github+json' }).get('/')
  assert.match(github.headers.get('x-github-request-id') ?? '', /^([0-9A-F]+:){4}[0-9A-F]+$/)
  assert.equal(github.headers.get('x-github-media-type'), 'github.v3; format=json')
  assert.equal(github.headers.get('x-github-api-version-selected'), '2022-11-28')
  assert.equal(github.headers.get('x-service-request-id'), null)
  assert.equal(github.headers.get('content-type'), 'application/json; charset=utf-8')
})

test('the version asked for is served and named; an unknown one is 400; the self-hosted variant ignores it', async () => {
  await using forge = await openForge()
  for (const name of ['x-service-api-version', 'x-github-api-version']) {
    const slim = await forge.nobodyVersioned.with({ [name]: '2026-03-10' }).get('/')
    assert.equal(slim.headers.get('x-service-api-version-selected'), '2026-03-10')
    const body = (await slim.json()) as object
    assert.ok(!('authorizations_url' in body) && 'events_url' in body)
    const unknown = await forge.nobodyVersioned.with({ [name]: '2020-01-01' }).get('/')
    assert.equal(unknown.status, 400)
    assert.match(((await unknown.json()) as { message: string }).message, /not a supported version/)
    const ignored = await forge.nobody.with({ [name]: '2020-01-01' }).get('/')
    assert.equal(ignored.status, 200)
    assert.equal(ignored.headers.get('x-service-api-version-selected'), null)
  }
  assert.deepEqual(await forge.nobodyVersioned.read('/versions'), ['2022-11-28', '2026-03-10'])
  assert.equal((await forge.nobody.get('/versions')).status, 404)
})
