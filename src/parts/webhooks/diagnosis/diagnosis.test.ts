import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { sql } from '#platform/database.ts'
import type { Resolve } from '#platform/outbound/checked-lookup.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { certificateFile, certificateOf } from '#test/certificates.ts'
import { expect, type Person } from '#test/forge.ts'
import { openWithEngine } from '#test/hooks.ts'
import { freePort } from '#test/machine.ts'
import { openReceiver, openSocketReceiver } from '#test/webhooks.ts'
import type { Diagnosis } from './diagnosis.ts'
import { runProbe } from './probe.ts'

const secret = 'it is between us'

async function hookTo(person: Person, url: string, more: object = {}): Promise<string> {
  const config = { url, content_type: 'json', secret, ...more }
  const { id } = await expect(201, await person.post('/repos/ada/engine/hooks', { config, events: ['star'] }))
  return `/repos/ada/engine/hooks/${id}`
}

const diagnose = async (person: Person, hook: string): Promise<Diagnosis> => expect(200, await person.post(`${hook}/diagnose`))

const outcomes = ({ steps }: Diagnosis) => Object.fromEntries(steps.map(({ step, ok }) => [step, ok]))
const failure = ({ failed, steps }: Diagnosis) => [failed, steps.find(({ step }) => step === failed)?.message]

test('a working receiver gets a signed ping, every step is reported, and nothing is recorded', async () => {
  await using forge = await openWithEngine()
  await using receiver = await openReceiver()
  const { ada } = forge
  const hook = await hookTo(ada, `${receiver.url}in?a=b`)
  const { db } = forge.belfry
  const stored = () =>
    db.first(sql`select (select count(*) from pending_deliveries) as waiting, (select count(*) from payloads) as payloads`)
  const before = await stored()
  const found = await diagnose(ada, hook)
  assert.deepEqual(outcomes(found), { policy: true, dns: null, tcp: true, tls: null, http: true, signature: true })
  assert.deepEqual([found.ok, found.failed], [true, null])
  const [sent] = receiver.received
  assert.ok(sent)
  assert.equal(sent.headers['x-github-event'], 'ping')
  assert.match(`${sent.headers['x-service-delivery']}`, /^[0-9a-f-]{36}$/)
  assert.ok(await verify(secret, sent.body.toString(), `${sent.headers['x-hub-signature-256']}`))
  assert.deepEqual([sent.json.hook.config.url, sent.json.sender.login], [`${receiver.url}in?a=b`, 'ada'])
  assert.ok(!sent.body.includes('\\u0000'))
  assert.deepEqual(await stored(), before)

  const named = await hookTo(ada, `${receiver.url.replace('127.0.0.1', 'localhost')}named`, {
    secret: null,
    content_type: 'form',
  })
  const open = await diagnose(ada, named)
  assert.deepEqual(outcomes(open), { policy: true, dns: true, tcp: true, tls: null, http: true, signature: null })
  assert.equal(receiver.received[1]?.json.hook_id, Number(named.split('/').at(-1)))

  const listened = await diagnose(ada, await hookTo(ada, 'belfry:listen'))
  assert.deepEqual(outcomes(listened), { policy: null, dns: null, tcp: null, tls: null, http: null, signature: true })
  assert.match(listened.steps[0]?.message ?? '', /clients of the stream receive the deliveries/)
})

test('a failing receiver: the failed step is named, and later steps are not reached', async () => {
  await using forge = await openWithEngine({ BELFRY_WEBHOOK_TIMEOUT: '1' })
  const { ada } = forge
  const diagnosed = async (url: string) => failure(await diagnose(ada, await hookTo(ada, url)))
  await using broken = await openReceiver((response) => response.writeHead(500).end())
  await using moved = await openReceiver((response) => response.writeHead(302, { Location: broken.url }).end())
  await using garbage = await openSocketReceiver((socket) => void socket.end('SSH-2.0-OpenSSH_9\r\n'))
  await using upgrading = await openSocketReceiver(
    (socket) => void socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  )
  await using cut = await openSocketReceiver((socket) => void socket.destroy())
  await using short = await openSocketReceiver((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'))
  await using silent = await openSocketReceiver(() => {})
  await using dripping = await openSocketReceiver((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n'))
  const found = Object.fromEntries(
    await Promise.all(
      Object.entries({
        broken: broken.url,
        moved: moved.url,
        garbage: garbage.url,
        upgrading: upgrading.url,
        cut: cut.url,
        short: short.url,
        silent: silent.url,
        dripping: dripping.url,
        refused: `http://127.0.0.1:${await freePort()}/`,
        plain: silent.url.replace('http:', 'https:'),
      }).map(async ([name, url]) => [name, await diagnosed(url)] as const),
    ),
  )
  assert.deepEqual(found, {
    broken: ['http', 'Response: 500 Internal Server Error: a delivery succeeds with 200 to 299.'],
    moved: ['http', 'Response: 302 Found: redirects are not followed.'],
    garbage: ['http', 'The answer is not HTTP.'],
    upgrading: ['http', 'The connection was closed before an answer came.'],
    cut: ['http', 'The connection was closed before an answer came.'],
    short: ['http', 'The connection was closed before an answer came.'],
    silent: ['http', 'No response within 1 s.'],
    dripping: ['http', 'No response within 1 s.'],
    refused: ['tcp', 'The connection was refused, because no program listens on this port.'],
    plain: ['tls', 'The TLS handshake timed out.'],
  })
  assert.equal(broken.received.length, 1)
})

test('a forbidden address is reported by its rule only', async () => {
  await using receiver = await openReceiver()
  const { port } = new URL(receiver.url)
  const rules = { BELFRY_HOST: '0.0.0.0', BELFRY_WEBHOOK_ADDRESSES: 'external' }
  await using forge = await openWithEngine(rules)
  const { ada } = forge
  const hook = await hookTo(ada, 'http://example.com/')
  // Such a hook was created under another policy, or before DNS changed.
  const diagnosed = async (url: string) => {
    await forge.belfry.db.query(sql`update hooks set url = ${url}`)
    return diagnose(ada, hook)
  }
  const direct = await diagnosed(receiver.url)
  assert.deepEqual(failure(direct), ['policy', 'Not allowed: 127.0.0.1 is a loopback address.'])
  assert.deepEqual(outcomes(direct), { policy: false, dns: null, tcp: null, tls: null, http: null, signature: null })
  assert.deepEqual(failure(await diagnosed('http://169.254.169.254/latest')), [
    'policy',
    'Not allowed: 169.254.169.254 is a link-local address.',
  ])
  assert.equal((await diagnosed('http://example.com:25/')).failed, 'policy')
  assert.equal((await diagnosed(`http://localhost:${port}/`)).failed, 'policy')
  assert.equal(receiver.received.length, 0)
})

test('a name is resolved once; all addresses must be allowed, and the connection uses one of them', async () => {
  await using receiver = await openReceiver()
  const { port } = new URL(receiver.url)
  const asked: string[] = []
  const through = async (addresses: string[], rules: string, code = '') => {
    const probe = { url: `http://inside.example:${port}/`, insecure_ssl: false, timeout: 5, headers: {}, body: Buffer.from('{}') }
    const resolve: Resolve = (name, _, answer) => {
      asked.push(name)
      if (code) answer(Object.assign(new Error('10.1.2.3'), { code }), [])
      else
        answer(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        )
    }
    const trusted = () => assert.fail('nothing is encrypted')
    const steps = await runProbe({ ...probe, policy: readPolicy(rules), resolve, trusted })
    return steps.flatMap(({ ok, message }) => (ok === null ? [] : message)).slice(1)
  }
  assert.deepEqual(await through(['10.1.2.3'], 'external'), ['Not allowed: inside.example has a private address.'])
  assert.deepEqual(await through(['127.0.0.1'], 'external'), ['Not allowed: inside.example has a loopback address.'])
  assert.deepEqual(await through(['169.254.169.254'], 'private'), ['Not allowed: inside.example has a link-local address.'])
  assert.deepEqual(await through(['127.0.0.1', '10.1.2.3'], 'loopback'), ['Not allowed: inside.example has a private address.'])
  assert.deepEqual(await through([], 'external'), ['inside.example has no address.'])
  assert.deepEqual(await through([], 'external', 'ENOTFOUND'), ['inside.example has no address.'])
  assert.deepEqual(await through([], 'external', 'EAI_AGAIN'), ['The DNS lookup of inside.example failed temporarily.'])
  assert.equal(receiver.received.length, 0)
  asked.length = 0
  assert.deepEqual(await through(['127.0.0.1'], 'loopback'), [
    'inside.example resolves to 127.0.0.1.',
    `Connected to port ${port}.`,
    'Response: 200 OK.',
  ])
  assert.deepEqual([asked, receiver.received[0]?.headers.host], [['inside.example'], `inside.example:${port}`])
})

test('the certificate is checked unless insecure_ssl is set', async () => {
  await using receiver = await openReceiver(undefined, certificateOf('localhost'))
  const url = receiver.url.replace('127.0.0.1', 'localhost')
  {
    await using forge = await openWithEngine()
    const { ada } = forge
    const checked = await diagnose(ada, await hookTo(ada, url))
    assert.deepEqual(failure(checked), ['tls', 'Peer certificate cannot be authenticated: self-signed certificate.'])
    assert.deepEqual(outcomes(checked), { policy: true, dns: true, tcp: true, tls: false, http: null, signature: null })
    const insecure = await diagnose(ada, await hookTo(ada, url, { insecure_ssl: '1' }))
    assert.deepEqual([insecure.ok, insecure.failed], [true, null])
    assert.match(
      insecure.steps[3]?.message ?? '',
      /^TLSv1\.3; the certificate is not checked, .*\(DEPTH_ZERO_SELF_SIGNED_CERT\)\.$/,
    )
    await using plain = await openReceiver()
    const wrong = await diagnose(ada, await hookTo(ada, plain.url.replace('http:', 'https:')))
    assert.deepEqual(failure(wrong), ['tls', 'The TLS handshake failed: wrong version number.'])
  }
  await using trusting = await openWithEngine({ BELFRY_CA: certificateFile('localhost') })
  const found = await diagnose(trusting.ada, await hookTo(trusting.ada, url))
  assert.deepEqual([found.ok, found.failed], [true, null])
  assert.match(found.steps[3]?.message ?? '', /^TLSv1\.3; the certificate is trusted until Jan {2}1 00:00:00 2120 GMT\.$/)
})

test('concurrent diagnoses of a hook are limited, and only its readers may diagnose it', async () => {
  await using forge = await openWithEngine({ BELFRY_WEBHOOK_TIMEOUT: '1' })
  await using silent = await openSocketReceiver(() => {})
  const { ada } = forge
  const hook = await hookTo(ada, silent.url)
  const answers = await Promise.all(Array.from({ length: 5 }, () => ada.post(`${hook}/diagnose`)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 403, 403])
  const ben = await forge.person('ben')
  assert.equal((await ben.post(`${hook}/diagnose`)).status, 404)
  assert.equal((await forge.nobody.post(`${hook}/diagnose`)).status, 401)
  assert.equal((await ada.post('/repos/ada/engine/hooks/99/diagnose')).status, 404)
  assert.equal((await (await forge.tokenFor('ada', ['user'])).post(`${hook}/diagnose`)).status, 403)
  const narrow = await forge.tokenFor('ada', ['read:repo_hook'])
  assert.equal((await narrow.post(`${hook}/diagnose`)).status, 200)
})
