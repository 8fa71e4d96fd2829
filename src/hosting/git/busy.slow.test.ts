import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { openPushes, pkt, zeros } from '#test/git.ts'
import { until } from '#test/machine.ts'

/** Sends the beginning of a request, and no more. */
async function begin(web: string, path: string, body: string, headers = '') {
  const { hostname, port } = new URL(web)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`POST /${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n${headers}\r\n${body}`)
  return socket
}

const isOver = (socket: Socket) => socket.closed || once(socket, 'close')

test('a client that stalls during a fetch or push is disconnected, and leaves no open push', async () => {
  await using forge = await openForge({ settings: { BELFRY_GIT_IDLE: '1' } })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const authorization = `Authorization: Bearer ${ada.token}\r\n`
  const command = pkt(`${zeros} ${'1'.repeat(40)} refs/heads/x\0report-status`)
  const sockets = await Promise.all([
    begin(forge.web, 'ada/engine.git/git-upload-pack', '0032want '),
    begin(forge.web, 'ada/engine.git/git-receive-pack', command.slice(0, 20), authorization),
    begin(forge.web, 'ada/engine.git/git-receive-pack', `${command}0000PACK`, authorization),
  ])
  for (const socket of sockets) await isOver(socket.resume())
  await until('no push is open', async () => (await openPushes(forge)) === 0)
  assert.equal(forge.logged.filter((line) => line.includes('the client stalled')).length, 3)
})

test('fetches beyond the limit wait, and further ones are refused with Retry-After', async () => {
  await using forge = await openForge({ settings: { BELFRY_GIT_PROCESSES: '1' } })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const holder = await begin(forge.web, 'ada/engine.git/git-upload-pack', '0032want ')
  const ask = async () => {
    const answer = await fetch(`${forge.web}/ada/engine.git/info/refs?service=git-upload-pack`)
    return { status: answer.status, retry_after: answer.headers.get('retry-after'), text: await answer.text() }
  }
  await until('it is served', async () => forge.belfry.storage.fetching.taken === 1)
  const asked = Array.from({ length: 9 }, ask)
  const refused = await Promise.race(asked)
  assert.equal(refused.status, 503)
  assert.equal(refused.retry_after, '5')
  assert.match(refused.text, /busy with other work on repositories\. Try again/)
  // Reading by the API has places of its own.
  await expect(200, await forge.nobody.get('/repos/ada/engine/contents/README.md'))
  holder.destroy()
  const statuses = (await Promise.all(asked)).map(({ status }) => status).sort()
  assert.deepEqual(statuses, [...Array(8).fill(200), 503])
})

test('requests share the slots, and a request with several git processes does not deadlock', async () => {
  await using forge = await openForge({ settings: { BELFRY_GIT_PROCESSES: '1' } })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const answers = await Promise.all(Array.from({ length: 30 }, () => forge.nobody.get('/repos/ada/engine/compare/main...main')))
  await Promise.all(answers.map((answer) => answer.text()))
  const statuses = new Set(answers.map(({ status }) => status))
  assert.ok(statuses.has(200))
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('retry-after'), '5')
  }
  await expect(201, await ada.put('/repos/ada/engine/contents/a.txt', { message: 'a', content: 'YQ==' }))
  await until('no place is taken', async () => forge.belfry.storage.reading.taken === 0)
})
