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
  #marked_at = performance.now()
  #mark: EventLoopUtilization = performance.eventLoopUtilization()

  get seconds() {
    const now = performance.now()
    if (now - this.#marked_at >= stretch) this.#look(now)
    return this.#seconds
  }

  #look(now: number) {
    const mark = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(mark, this.#mark)
    this.#seconds = steps.find(([busy]) => utilization >= busy)?.[1] ?? usual
    this.#mark = mark
    this.#marked_at = now
  }
}
