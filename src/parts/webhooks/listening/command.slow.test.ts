import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { expect, openForge, pick } from '#test/forge.ts'
import { freePort, until } from '#test/machine.ts'
import { BelfryProcess } from '#test/process.ts'
import { openReceiver, openServer } from '#test/webhooks.ts'
import { follow } from './stream-client.ts'

const program = join(import.meta.dirname, '../../../../bin/belfry')
const secret = 'it is between us'

/** The command in a folder where it cannot create a database. */
function run(token: string, ...options: string[]) {
  const env = { PATH: process.env.PATH ?? '', BELFRY_DATA: '/dev/null/data', BELFRY_TOKEN: token }
  return new BelfryProcess(spawn('sh', [program, 'listen', ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] }), '')
}

test('belfry listen forwards deliveries with the same bytes, and the response becomes their outcome', async () => {
  await using forge = await openForge()
  const statuses = [200, 201, 500]
  await using receiver = await openReceiver((response) => response.writeHead(statuses.shift() ?? 200, { a: 'b' }).end('Grüße'))
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  const config = { url: 'belfry:listen', content_type: 'json', secret }
  const { id, url } = await expect(201, await ada.post('/repos/ada/engine/hooks', { config, events: ['star'] }))
  const listener = run(ada.token, '--hook', `ada/engine/${id}`, '--server', forge.web, '--forward', `${receiver.url}in?a=b`)
  try {
    const [ping] = await receiver.first(1)
    assert.equal(ping?.headers['x-github-event'], 'ping')
    await expect(204, await ben.put('/user/starred/ada/engine'))
    const star = (await receiver.first(2))[1]
    assert.equal(star?.headers['x-github-event'], 'star')
    assert.ok(await verify(secret, `${star?.body}`, `${star?.headers['x-hub-signature-256']}`))
    await expect(204, await ben.delete('/user/starred/ada/engine'))
    await receiver.first(3)
    const outcomes = () => ada.read(`${new URL(url).pathname.replace('/api/v3', '')}/deliveries`)
    await until('all outcomes are recorded', async () => (await outcomes()).length === 3)
    const recorded = await outcomes()
    assert.deepEqual(pick(recorded, 'event', 'action', 'status', 'status_code'), [
      ['star', 'deleted', 'Invalid HTTP Response: 500', 500],
      ['star', 'created', 'OK', 201],
      ['ping', '', 'OK', 200],
    ])
    const full = await ada.read(`/repos/ada/engine/hooks/${id}/deliveries/${recorded[1].id}`)
    assert.deepEqual([full.response.payload, full.response.headers.a], ['Grüße', 'b'])
    for (const [name, value] of Object.entries(full.request.headers)) assert.equal(star?.headers[name.toLowerCase()], value)
    assert.equal(JSON.stringify(full.request.payload), `${star?.body}`)
    await until('three lines are printed', () => listener.stdout.split('\n').length >= 5)
    const [first = '', ...lines] = listener.stdout.trimEnd().split('\n')
    assert.equal(first, `Listening to ${url}`)
    for (const [index, line] of lines.entries()) {
      assert.match(line, /^\d\d:\d\d:\d\d {2}(ping|star\.created|star\.deleted) {2}[0-9a-f-]{36} {2}→ (200|201|500) {2}\d+ ms$/)
      assert.ok(line.includes(recorded[2 - index].guid))
    }
    assert.equal(listener.stderr, '')
  } finally {
    listener.kill('SIGINT')
  }
  assert.equal(await listener.ended(), 'SIGINT')
})

test('belfry listen reports an error in one line and exits', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const wanted = ['--hook', 'ada/engine/1', '--forward', 'http://localhost:4000/in', '--server', forge.web]
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const cases: [token: string, options: string[], says: RegExp][] = [
    ['wrong', wanted, /^The server does not accept the token \(401\)/],
    [
      ada.token,
      wanted,
      /^The webhook does not exist, or the token has no access to it \(404\): http\S+\/api\/v3\/repos\/ada\/engine\/hooks\/1\.$/m,
    ],
    [
      (await forge.tokenFor('ada', ['user'])).token,
      wanted,
      /^The server responds 403: Missing the 'read:repo_hook' or 'repo' scope\./,
    ],
    [ada.token, [...wanted, '--server', nowhere], /^http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/],
    [ada.token, [...wanted, '--hook', `${forge.web}/ada/engine`], /^--hook is "http\S+": not the address of a webhook\. See/],
    [ada.token, wanted.slice(0, 2), /^--forward is missing/],
    [
      ada.token,
      [...wanted, '--forward', 'ftp://localhost'],
      /^--forward is "ftp:\/\/localhost": the address must begin with http/,
    ],
    ['', wanted, /^The token is missing: set BELFRY_TOKEN\./],
    [ada.token, [...wanted, '--huk'], /^Unknown option '--huk'/],
  ]
  await Promise.all(
    cases.map(async ([token, options, says]) => {
      const listener = run(token, ...options)
      assert.equal(await listener.ended(), '1')
      assert.match(listener.stderr, /^[^\n]+\n$/)
      assert.match(listener.stderr, says)
      assert.equal(listener.stdout, '')
    }),
  )
  const help = run('', '--help')
  assert.deepEqual([await help.ended(), help.stderr], ['0', ''])
  assert.match(help.stdout, /BELFRY_TOKEN=… npx belfry listen --hook/)
})

test('an interrupted stream resumes after the last message, also when it broke inside a character', async () => {
  const asked: (string | undefined)[] = []
  const message = (id: string, text: string) => `id: ${id}\ndata: ${JSON.stringify({ text })}\n\n`
  const server = createServer((request, response) => {
    asked.push(`${request.headers['last-event-id']} ${request.headers.authorization}`)
    if (asked.length === 2) return response.writeHead(503).end('{"message": "in a moment"}')
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    if (asked.length > 2) return response.end(message('3', 'three'))
    const bytes = Buffer.from(
      `retry: 1000\n\n${message('1', 'one')}: still here\n\n${message('2', 'ü\u2028'.repeat(9))}${message('x', 'lost')}`,
    )
    const middle = bytes.indexOf('ü') + 1
    response.write(bytes.subarray(0, middle))
    setTimeout(() => {
      response.write(bytes.subarray(middle, -10))
      setTimeout(() => response.destroy(), 20)
    }, 20)
  })
  await using open = await openServer(server)
  const warned: string[] = []
  const came: unknown[] = []
  const warn = (text: string) => void warned.push(text)
  for await (const message of follow(`${open.url}hooks/1`, 't', () => {}, warn)) if (came.push(message) === 3) break
  assert.deepEqual(came, [{ text: 'one' }, { text: 'ü\u2028'.repeat(9) }, { text: 'three' }])
  assert.deepEqual(asked, ['undefined Bearer t', '2 Bearer t', '2 Bearer t'])
  assert.equal(warned.length, 2)
  assert.match(warned[1] ?? '', /the server responds 503: in a moment/)
})
