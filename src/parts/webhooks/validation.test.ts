import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { hooks, make, openWithEngine, url } from '#test/hooks.ts'

const wrong: [what: string, body: Record<string, unknown>, said: RegExp, field?: string][] = [
  ['no config', {}, /url cannot be blank/, 'url'],
  ['no url', { config: { content_type: 'json' } }, /url cannot be blank/, 'url'],
  ['an empty url', { config: { url: '  ' } }, /url cannot be blank/, 'url'],
  ['null for a url', { config: { url: null } }, /url cannot be blank/, 'url'],
  ['a url without a scheme', { config: { url: 'ci.example/hook' } }, /not supported because the address is not a URL/, 'url'],
  ['a url of another scheme', { config: { url: 'ftp://ci.example' } }, /must begin with http:\/\/ or https:\/\//, 'url'],
  ['a url with a password', { config: { url: 'https://a:b@ci.example' } }, /must not hold a user name or password/, 'url'],
  ['a url of a private network', { config: { url: 'http://10.1.2.3/' } }, /10\.1\.2\.3 is a private address/, 'url'],
  ['the metadata service', { config: { url: 'http://169.254.169.254/' } }, /169\.254\.169\.254 is a link-local address/, 'url'],
  ['almost the word for a stream', { config: { url: 'belfry:listens' } }, /must begin with http/, 'url'],
  ['another name', { name: 'irc', config: { url } }, /"code":"invalid"/, 'name'],
  ['another content type', { config: { url, content_type: 'xml' } }, /content_type must be json or form/, 'content_type'],
  ['another insecure_ssl', { config: { url, insecure_ssl: 2 } }, /insecure_ssl must be 0 or 1/, 'insecure_ssl'],
  ['events that are none', { config: { url }, events: ['push', 'bell', 'toll', 'bell'] }, /: bell, toll"/, 'events'],
  ['events of organizations', { config: { url }, events: ['membership'] }, /not allowed for this hook: membership"/, 'events'],
]
const misshapen: [what: string, body: Record<string, unknown>, said: RegExp][] = [
  ['a key that nobody knows', { config: { url }, sekret: 1 }, /\\"sekret\\" is not a permitted key/],
  ['a config that is a text', { config: url }, /is not an object/],
  ['a url that is a number', { config: { url: 1 } }, /is not a string or null/],
  ['a secret that is a list', { config: { url, secret: ['a'] } }, /is not a string or null/],
  ['insecure_ssl that is a truth', { config: { url, insecure_ssl: true } }, /is not a string or a number or null/],
  ['events that are a text', { config: { url }, events: 'push' }, /is not an array/],
  ['events that are numbers', { config: { url }, events: [1] }, /is not a string/],
  ['active that is a text', { config: { url }, active: 'yes' }, /is not a boolean/],
  ['a url without an end', { config: { url: `${url}/${'a'.repeat(2048)}` } }, /2048/],
]

test('invalid fields of a new hook are reported', async () => {
  await using forge = await openWithEngine()
  for (const [what, body, said, field] of wrong) {
    const { message, errors } = await expect(422, await forge.ada.post(hooks, body))
    assert.deepEqual([message, errors.length, errors[0].resource, errors[0].field], ['Validation Failed', 1, 'Hook', field], what)
    assert.match(JSON.stringify(errors), said, what)
  }
  for (const [what, body, said] of misshapen) {
    const { message } = await expect(422, await forge.ada.post(hooks, body))
    assert.match(JSON.stringify(message), said, what)
    assert.match(message, /^Invalid request\./, what)
  }
  assert.deepEqual(await forge.ada.read(hooks), [])
  const { id } = await make(forge.ada)
  for (const [path, body] of [
    ['', { config: {} }],
    ['', { config: { url: 'http://10.1.2.3/' } }],
    ['', { name: 'irc' }],
    ['', { add_events: ['bell'] }],
    ['', { remove_events: ['bell'] }],
    ['/config', { url: '' }],
    ['/config', { url: 'http://10.1.2.3/' }],
    ['/config', { content_type: 'xml' }],
    ['/config', { events: ['push'] }],
  ] as const)
    await expect(422, await forge.ada.patch(`${hooks}/${id}${path}`, body))
})

test('a public server does not send to its own machine', async () => {
  await using forge = await openWithEngine({ BELFRY_HOST: '0.0.0.0' })
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::1]']) {
    const { errors } = await expect(422, await forge.ada.post(hooks, { config: { url: `http://${host}/` } }))
    assert.match(errors[0].message, /^url is not supported because .+ a loopback address$/, host)
  }
  await using local = await openWithEngine()
  await make(local.ada, { config: { url: 'http://127.0.0.1:8080/' } })
})
