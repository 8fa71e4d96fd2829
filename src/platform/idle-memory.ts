import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** In milliseconds. */
const interval = 10_000
/** Shares of a core. An idle server with its jobs takes 0.01 to 0.02. */
const idle = 0.03
const busy = 0.1

/**
 * V8 collects garbage only while a process allocates, so a process that has become idle keeps what its last work left behind: 30 MB after a
 * start, 60 after the demo was loaded. Here it is collected once after each time of work.
 */
export function collectWhenIdle() {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  let [at, used, worked] = [performance.now(), process.cpuUsage(), true]
  setInterval(() => {
    const { user, system } = process.cpuUsage(used)
    const share = (user + system) / 1000 / (performance.now() - at)
    ;[at, used] = [performance.now(), process.cpuUsage()]
    if (share > busy) worked = true
    if (!worked || share > idle) return
    worked = false
    void collect({ execution: 'async', type: 'major', flavor: 'last-resort' })
  }, interval).unref()
}
