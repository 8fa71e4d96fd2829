import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { trackWork, watchLoop } from '#platform/loop-watchdog.ts'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'

/** Blocks the loop of this process, which is also the server's. */
function block(milliseconds: number) {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

const warned = async (forge: Forge) => {
  const isWarning = (line: string) => line.includes('the event loop was blocked')
  await until('it is logged', async () => forge.logged.some(isWarning))
  return forge.logged.filter(isWarning).map((line) => JSON.parse(line))
}

test('a blocked event loop is logged with the request that ran, and counted', async () => {
  await using forge = await openForge()
  using _watch = watchLoop(forge.belfry.log)
  const ada = await forge.person('ada')
  const { hostname, port } = new URL(forge.web)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  socket.write(`POST /api/v3/user/repos HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ada.token}\r\nContent-Length: 9\r\n\r\n`)
  // The next request is answered after the first one has begun.
  await expect(200, await ada.get('/user'))
  block(600)
  const [warning] = await warned(forge)
  socket.destroy()
  assert.ok(warning.ms > 250)
  assert.ok(warning.running.some((work: string) => /^POST \/api\/v3\/user\/repos [0-9A-F:]+$/.test(work)))
  const metrics = await (await fetch(`${forge.web}/metrics`)).text()
  assert.match(metrics, /^belfry_event_loop_blocked_total\{work="[^"]+"\} [1-9]/m)
  assert.match(metrics, /^belfry_event_loop_blocked_seconds_total\{work="[^"]+"\} 0\.\d+/m)
})

test('a job that blocks the event loop is named, also if it has ended', async () => {
  await using forge = await openForge()
  using _watch = watchLoop(forge.belfry.log)
  await trackWork('job count_stars', async () => block(600))
  const [warning] = await warned(forge)
  assert.equal(warning.running[0], 'job count_stars')
})
