import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWorld } from '../world.ts'

/** What the fuzzer needs to act in the world of this process. */
export interface Place {
  web: string
  versioned: string
  ada: string
  admin: string
  /** Takes time by the square of its address, and by its length below /linear: what the fuzzer must find, and what it must not. */
  slow: string
}

/** In milliseconds: processor time of the event loop's thread, and the longest time in which the loop served nothing else. */
export interface Measured {
  cpu: number
  blocked: number
}

/** `begin` starts a measurement. `end` answers at once, and `end slowly` also with what a timer saw of the blocked loop. */
export type Order = 'begin' | 'end' | 'end slowly'

const world = await openWorld(Number(process.argv[2] ?? 1))
const slow = createServer(({ url = '' }, response) => {
  let steps = 0
  const rounds = url.startsWith('/linear') ? 1 : url.length
  for (let round = 0; round < rounds; round++) for (let at = 0; at < url.length; at++) steps += url.charCodeAt(at)
  response.end(String(steps))
}).listen(0, '127.0.0.1')
await new Promise((resolve) => slow.once('listening', resolve))

const delay = monitorEventLoopDelay({ resolution: 5 })
let start = process.threadCpuUsage()

process.on('message', async (order: Order) => {
  if (order === 'begin') {
    delay.enable()
    delay.reset()
    start = process.threadCpuUsage()
    process.send?.({ cpu: 0, blocked: 0 } satisfies Measured)
    return
  }
  const { user, system } = process.threadCpuUsage(start)
  // The timer of the histogram fires after what blocked it.
  if (order === 'end slowly') await sleep(30)
  process.send?.({ cpu: (user + system) / 1000, blocked: delay.max / 1e6 } satisfies Measured)
})
process.on('disconnect', () => process.exit())
const { port } = slow.address() as AddressInfo
const place: Place = {
  ...{ web: world.web, versioned: world.versioned, ada: world.ada.token, admin: world.admin.token },
  slow: `http://127.0.0.1:${port}`,
}
process.send?.(place)
