import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { processesIn, until } from '#test/machine.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

test('SIGTERM answers 200 requests in flight and those that follow on open connections, then stops everything', async () => {
  await using host = await Host.openUsed()
  const belfry = await host.start()
  const connections = await Promise.all(Array.from({ length: 200 }, () => openConnection(belfry)))
  let begun = 0
  /** Asks again and again on one connection, until the server says that an answer was the last. */
  const ask = async (socket: Socket) => {
    for (let answers = 0; ; answers++) {
      const { status, last } = await askOn(socket, answers % 2 ? '/api/v3/user' : '/api/v3/', host.token)
      if (answers === 0) begun++
      if (status !== 200) return `status ${status}`
      if (last) return 'said to be the last'
    }
  }
  const asking = Promise.all(connections.map((socket) => ask(socket).catch((error: Error) => error.message)))
  await until('all are at it', () => begun === 200)
  belfry.kill('SIGTERM')
  const outcomes = await asking
  assert.deepEqual([...new Set(outcomes)], ['said to be the last'])
  assert.equal(await belfry.ended(), '0')
  await assertNothingLeft(host)
})

test('SIGINT stops in the same order, and a request whose body is on its way is still answered', async () => {
  await using host = await Host.openUsed()
  const belfry = await host.start()
  const slow = await openHangingRequest(belfry, host.token)
  belfry.kill('SIGINT')
  await until('nobody new is let in', () => isRefused(belfry))
  slow.write('"in-time" }')
  assert.equal((await answerOn(slow)).status, 201)
  assert.equal(await belfry.ended(), '0')
  assert.match(belfry.stderr, /"signal":"SIGINT"/)
  await assertNothingLeft(host)
})

test('a silent connection does not hold up the stop, and a second signal ends a hanging one at once, and PostgreSQL with it', async () => {
  await using host = await Host.openUsed()
  const belfry = await host.start()
  const closed: string[] = []
  const silent = await openConnection(belfry)
  silent.once('close', () => closed.push('the silent one'))
  const hanging = await openHangingRequest(belfry, host.token)
  hanging.once('close', () => closed.push('the hanging one'))
  belfry.kill('SIGTERM')
  await until('one of them is closed', () => closed.length > 0)
  assert.deepEqual(closed, ['the silent one'])
  // A signal right after the first counts as the same one: npm passes on what the terminal has sent already.
  await until('it has ended', () => {
    belfry.kill('SIGTERM')
    return belfry.end !== undefined
  })
  assert.equal(belfry.end, '1')
  await until('PostgreSQL has ended', () => processesIn(host.data).length === 0)
  const next = await host.start()
  assert.equal((await next.get('/readyz')).status, 200)
})

test('SIGTERM while the database is made, or while PostgreSQL starts, ends the start and leaves no PostgreSQL behind', async () => {
  await using host = await Host.open()
  let token = ''
  for (const file of ['postgres.new/PG_VERSION', 'postgres/postmaster.pid']) {
    const belfry = await host.launch()
    await until(`${file} is there`, () => existsSync(join(host.data, file)) || belfry.web !== '')
    belfry.kill('SIGTERM')
    assert.equal(await belfry.ended(), '0')
    await assertNothingLeft(host)
    // On a busy machine the start may have got further.
    token ||= belfry.admin.token
  }
  const next = await host.start()
  assert.equal((await next.get('/api/v3/user', token || next.admin.token)).status, 200)
})

async function assertNothingLeft(host: Host) {
  assert.deepEqual(processesIn(host.folder), [])
  assert.ok(!existsSync(join(host.data, 'belfry.pid')))
  assert.ok(!existsSync(join(host.data, 'postgres', 'postmaster.pid')))
}

async function openConnection(belfry: BelfryProcess) {
  const { hostname, port } = new URL(belfry.web)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return socket
}

/** Begins a body whose end is wanting; what is left of it is `"in-time" }`. */
async function openHangingRequest(belfry: BelfryProcess, token: string) {
  const socket = await openConnection(belfry)
  const body = '{ "name": "in-time" }'
  const head = `POST /api/v3/user/repos HTTP/1.1\r\nHost: belfry\r\nAuthorization: Bearer ${token}`
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n{ "name": `)
  // Another connection's answer shows that the server has read what came before.
  await askOn(await openConnection(belfry), '/api/v3/', token)
  return socket
}

function askOn(socket: Socket, path: string, token: string) {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: belfry\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return answerOn(socket)
}

/** Reads one whole answer. */
function answerOn(socket: Socket) {
  return new Promise<{ status: number; last: boolean }>((resolve, reject) => {
    let text = ''
    const finish = (settle: () => void) => {
      socket.off('data', onData).off('close', onClose)
      settle()
    }
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const [head, length] = [text.slice(0, end), /^content-length: (\d+)$/im.exec(text)?.[1]]
      if (end < 0 || text.length < end + 4 + Number(length)) return
      const last = /^connection: close$/im.test(head)
      finish(() => resolve({ status: Number(head.split(' ')[1]), last }))
    }
    const onClose = () => finish(() => reject(new Error(`closed with ${text.length} bytes of an answer`)))
    socket.on('data', onData).on('close', onClose)
  })
}

async function isRefused(belfry: BelfryProcess) {
  const socket = await openConnection(belfry).catch(() => undefined)
  socket?.destroy()
  return !socket
}
