import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { freePort } from '#test/machine.ts'
import { delivered, openReceiver, openSocketReceiver, storeTooLarge } from '#test/webhooks.ts'

const { forge, ada, db, hookTo, ping } = await shareEngine({ worker: true, settings: { BELFRY_WEBHOOK_TIMEOUT: '1' } })

const closed = 'the connection was closed before an answer came'
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const raw = (text: string) => (socket: Socket) => void socket.end(text, 'latin1')

interface Came {
  status: string
  status_code: number
  headers: Record<string, string>
  body: string
}

const none = { headers: {}, body: '' }
const late = { status: 'timed out', status_code: 504, ...none }
const cutOff = { status: closed, status_code: 502, ...none }
const noHttp = { status: 'the answer is not HTTP', status_code: 502, ...none }

/** Receivers by behaviour, and the outcome that is recorded. */
const manners: Record<string, [answer: (socket: Socket) => void, came: Came]> = {
  hangs: [() => {}, late],
  'drips its headers': [drip('HTTP/1.1 200 OK\r\nx-slow: '), late],
  'drips its body': [drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'), late],
  'resets the connection': [(socket) => void socket.resetAndDestroy(), cutOff],
  'closes before it answers': [raw(''), cutOff],
  'closes within its headers': [raw('HTTP/1.1 200 OK\r\ncontent-le'), cutOff],
  'closes within its body': [raw('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'), cutOff],
  'closes within a chunk': [raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf'), cutOff],
  'speaks something else': [raw('220 mail.example ESMTP\r\n'), noHttp],
  'has headers without end': [
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${`x-more: ${'more'.repeat(20)}\r\n`.repeat(1000)}`),
    { status: 'the answer has too many headers', status_code: 502, ...none },
  ],
  'goes on instead of answering': [raw('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), noHttp],
  'changes the protocol': [raw('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'), noHttp],
  'gives hints before it answers': [
    raw('HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 4\r\n\r\nsoon'),
    { status: 'OK', status_code: 202, headers: { 'content-length': '4' }, body: 'soon' },
  ],
  'speaks HTTP/1.0': [raw('HTTP/1.0 200 OK\r\n\r\nold'), { status: 'OK', status_code: 200, headers: {}, body: 'old' }],
  'answers nothing, rightly': [raw('HTTP/1.1 204 No Content\r\n\r\n'), { status: 'OK', status_code: 204, headers: {}, body: '' }],
  'is broken': [
    raw('HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\nno'),
    { status: 'Invalid HTTP Response: 500', status_code: 500, headers: { 'content-length': '2' }, body: 'no' },
  ],
  'is not there': [
    raw('HTTP/1.1 404 Gone\r\ncontent-length: 0\r\n\r\n'),
    { status: 'Invalid HTTP Response: 404', status_code: 404, headers: { 'content-length': '0' }, body: '' },
  ],
  'answers in bytes that are no text': [
    raw('HTTP/1.1 200 OK\r\nx-name: caf\xe9\r\nx-two: a\r\nx-two: b\r\ncontent-length: 6\r\n\r\na\0b\xff\xc3!'),
    {
      ...{ status: 'OK', status_code: 200, body: 'a�b��!' },
      headers: { 'x-name': 'caf\xe9', 'x-two': 'a, b', 'content-length': '6' },
    },
  ],
  'has a zero byte in a header': [raw('HTTP/1.1 200 OK\r\nx-name: a\0b\r\ncontent-length: 0\r\n\r\n'), noHttp],
}

/** An endless response, a byte at a time. */
function drip(begin: string) {
  return (socket: Socket) => {
    socket.write(begin)
    const timer = setInterval(() => socket.write('.'), 200)
    socket.on('close', () => clearInterval(timer))
  }
}

for (const [name, [answer, { status, status_code, headers, body }]] of Object.entries(manners)) {
  test(`a receiver that ${name} gets one request, and the outcome is recorded`, async () => {
    await using receiver = await openSocketReceiver(answer)
    const hook = await hookTo(receiver.url)
    const [delivery] = await delivered(ada, hook)
    assert.partialDeepStrictEqual(delivery, { status, status_code, url: receiver.url, event: 'ping', redelivery: false })
    assert.deepEqual(delivery.response, { headers, payload: body })
    assert.ok(
      status === 'timed out' ? delivery.duration >= 0.9 && delivery.duration < 3 : delivery.duration < 0.9,
      delivery.duration,
    )
    const state = status_code === 504 ? 'timeout' : status_code >= 400 ? 'misconfigured' : 'active'
    assert.deepEqual((await ada.read(`${hooks}/${hook.id}`)).last_response, { code: status_code, status: state, message: status })
    assert.equal(receiver.requests, 1)
    assert.equal(await db.first(sql`select from pending_deliveries where hook_id = ${hook.id}`), undefined)
  })
}

test('an unreachable receiver is recorded as such', async () => {
  for (const url of [`http://127.0.0.1:${await freePort()}/`, 'http://nowhere.invalid/']) {
    const hook = await hookTo(url)
    const [delivery] = await delivered(ada, hook)
    assert.partialDeepStrictEqual(delivery, { status: 'failed to connect to host', status_code: 502, url })
    assert.deepEqual(delivery.response, { headers: {}, payload: '' })
  }
})

test('an endless response is read up to the limit and marked as truncated', async () => {
  const part = 'ä'.repeat(512 * 1024)
  let sent = 0
  await using receiver = await openSocketReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10485760\r\n\r\n')
    const more = () => {
      while (sent < 10 && socket.writable) {
        sent++
        if (!socket.write(part)) return socket.once('drain', more)
      }
    }
    more()
  })
  const [delivery] = await delivered(ada, await hookTo(receiver.url))
  assert.equal(delivery.status, 'OK')
  assert.equal(delivery.response.payload, `${'ä'.repeat(32 * 1024)}\n… cut off after 64 KB`)
  assert.ok(delivery.duration < 0.9)
  assert.equal(receiver.requests, 1)
})

test('a redirect is not followed', async () => {
  await using elsewhere = await openReceiver()
  await using receiver = await openReceiver((response) => response.writeHead(301, { location: elsewhere.url }).end())
  const hook = await hookTo(receiver.url)
  const [delivery] = await delivered(ada, hook)
  assert.partialDeepStrictEqual(delivery, { status: 'Invalid HTTP Response: 301', status_code: 301 })
  assert.equal(delivery.response.headers.location, elsewhere.url)
  assert.equal(elsewhere.connections, 0)
})

test('connections are reused, and one that the receiver closes at that time loses nothing', async () => {
  await using kept = await openReceiver()
  const hook = await hookTo(kept.url)
  for (let count = 2; count < 6; count++) {
    await ping(hook)
    await delivered(ada, hook, count)
  }
  assert.deepEqual([kept.received.length, kept.connections], [5, 1])

  const endings: [close: (socket: Socket) => void, requests: number, status: string][] = [
    [(socket) => void socket.resetAndDestroy(), 3, 'OK'],
    [(socket) => void socket.end(), 3, 'OK'],
    // The response has started, so the receiver got the request.
    [(socket) => void socket.end('HTTP/1.1 200'), 2, closed],
  ]
  for (const [close, requests, status] of endings) {
    const used = new Set<Socket>()
    await using receiver = await openSocketReceiver((socket) => {
      if (used.has(socket)) close(socket)
      else socket.write(ok)
      used.add(socket)
    })
    const fickle = await hookTo(receiver.url)
    await delivered(ada, fickle)
    await ping(fickle)
    assert.equal((await delivered(ada, fickle, 2)).at(-1).status, status)
    assert.deepEqual([receiver.requests, receiver.connections], [requests, requests - 1])
  }
})

test('a payload that is too large is recorded as a failure and not sent', async () => {
  await using receiver = await openReceiver()
  const hook = await hookTo(receiver.url)
  await delivered(ada, hook)
  await storeTooLarge(forge, hook)
  const [, delivery] = await delivered(ada, hook, 2)
  assert.partialDeepStrictEqual(delivery, {
    status: 'the payload is larger than 25 MB and was not sent',
    status_code: 413,
    event: 'push',
  })
  assert.deepEqual(delivery.request.payload, {})
  assert.equal(receiver.received.length, 1)
})
