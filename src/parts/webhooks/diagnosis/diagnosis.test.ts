import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer, isIP, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { sql } from '#platform/database.ts'
import type { Resolve } from '#platform/outbound/checked-lookup.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { expect, type Forge, openForge, type Person } from '#test/forge.ts'
import { freePort } from '#test/machine.ts'
import { openReceiver } from '#test/webhooks.ts'
import { runProbe } from './probe.ts'

interface Diagnosis {
  steps: { step: string; ok: boolean | null; message: string; duration: number }[]
  ok: boolean
  failed: string | null
}

const certificates = join(import.meta.dirname, '../../../../test/certificates')
const secret = 'it is between us'

async function ready(forge: Forge) {
  const ada = await forge.person('ada')
  await ada.owns('engine')
  return ada
}

async function hookTo(person: Person, url: string, more: object = {}): Promise<string> {
  const config = { url, content_type: 'json', secret, ...more }
  const { id } = await expect(201, await person.post('/repos/ada/engine/hooks', { config, events: ['star'] }))
  return `/repos/ada/engine/hooks/${id}`
}

const diagnose = async (person: Person, hook: string): Promise<Diagnosis> => expect(200, await person.post(`${hook}/diagnose`))

const outcomes = ({ steps }: Diagnosis) => Object.fromEntries(steps.map(({ step, ok }) => [step, ok]))
const failure = ({ failed, steps }: Diagnosis) => [failed, steps.find(({ step }) => step === failed)?.message]

/** A raw TCP server. `answer` handles a connection after its first data. */
async function openPort(onData: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('data', () => onData(socket))
  })
  return listenAt(server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

async function listenAt(server: Server, end: () => void) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      end()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a working receiver gets a signed ping, every step is reported, and nothing is recorded', async () => {
  await using forge = await openForge()
  await using receiver = await openReceiver()
  const ada = await ready(forge)
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
  await using forge = await openForge({ settings: { BELFRY_WEBHOOK_TIMEOUT: '1' } })
  const ada = await ready(forge)
  const diagnosed = async (url: string) => failure(await diagnose(ada, await hookTo(ada, url)))
  const port = (at: { port: number }) => `http://127.0.0.1:${at.port}/`
  await using broken = await openReceiver((response) => response.writeHead(500).end())
  await using moved = await openReceiver((response) => response.writeHead(302, { Location: broken.url }).end())
  await using garbage = await openPort((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'))
  await using upgrading = await openPort((socket) =>
    socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  )
  await using cut = await openPort((socket) => socket.destroy())
  await using short = await openPort((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'))
  await using silent = await openPort(() => {})
  await using dripping = await openPort((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n'))
  const found = Object.fromEntries(
    await Promise.all(
      Object.entries({
        broken: broken.url,
        moved: moved.url,
        garbage: port(garbage),
        upgrading: port(upgrading),
        cut: port(cut),
        short: port(short),
        silent: port(silent),
        dripping: port(dripping),
        refused: `http://127.0.0.1:${await freePort()}/`,
        plain: port(silent).replace('http:', 'https:'),
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
  await using forge = await openForge({ settings: rules })
  const ada = await ready(forge)
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
  const [key, cert] = ['localhost.key', 'localhost.pem'].map((name) => readFileSync(join(certificates, name), 'utf8'))
  const server = createHttps({ key, cert }, (_, response) => response.end('ok'))
  await using at = await listenAt(server, () => server.closeAllConnections())
  const url = `https://localhost:${at.port}/`
  {
    await using forge = await openForge()
    const ada = await ready(forge)
    const checked = await diagnose(ada, await hookTo(ada, url))
    assert.deepEqual(failure(checked), ['tls', 'Peer certificate cannot be authenticated: self-signed certificate.'])
    assert.deepEqual(outcomes(checked), { policy: true, dns: true, tcp: true, tls: false, http: null, signature: null })
    const insecure = await diagnose(ada, await hookTo(ada, url, { insecure_ssl: '1' }))
    assert.deepEqual([insecure.ok, insecure.failed], [true, null])
    assert.match(
      insecure.steps[3]?.message ?? '',
      /^TLSv1\.3; the certificate is not checked, .*\(DEPTH_ZERO_SELF_SIGNED_CERT\)\.$/,
    )
    await using plain = await openPort((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const wrong = await diagnose(ada, await hookTo(ada, `https://127.0.0.1:${plain.port}/`))
    assert.deepEqual(failure(wrong), ['tls', 'The TLS handshake failed: wrong version number.'])
  }
  await using trusting = await openForge({ settings: { BELFRY_CA: join(certificates, 'localhost.pem') } })
  const trusted = await ready(trusting)
  const found = await diagnose(trusted, await hookTo(trusted, url))
  assert.deepEqual([found.ok, found.failed], [true, null])
  assert.match(found.steps[3]?.message ?? '', /^TLSv1\.3; the certificate is trusted until Jan {2}1 00:00:00 2120 GMT\.$/)
})

test('concurrent diagnoses of a hook are limited, and only its readers may diagnose it', async () => {
  await using forge = await openForge({ settings: { BELFRY_WEBHOOK_TIMEOUT: '1' } })
  await using silent = await openPort(() => {})
  const ada = await ready(forge)
  const hook = await hookTo(ada, `http://127.0.0.1:${silent.port}/`)
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
