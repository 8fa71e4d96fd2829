import { type EventLoopUtilization, performance } from 'node:perf_hooks'

/** How long clients are asked to wait, by how busy this process is (1: it never rests). In seconds. */
const steps: [busy: number, seconds: number][] = [
  [0.98, 300],
  [0.95, 180],
  [0.85, 120],
]
const usual = 60
/** Busyness is that of the last stretch of at least this long. In milliseconds. */
const stretch = 1000

/** What `X-Poll-Interval` says: rises while the process is under load, and falls back after. */
export class PollInterval {
  #seconds = usual
  #mark: EventLoopUtilization = performance.eventLoopUtilization()

  get seconds() {
    const now = performance.eventLoopUtilization()
    const past = performance.eventLoopUtilization(now, this.#mark)
    if (past.active + past.idle >= stretch) {
      this.#mark = now
      this.#seconds = steps.find(([busy]) => past.utilization >= busy)?.[1] ?? usual
    }
    return this.#seconds
  }
}
