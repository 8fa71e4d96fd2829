import { type EventLoopUtilization, performance } from 'node:perf_hooks'

/** The poll interval in seconds by the utilization of the event loop, from 0 to 1. */
const steps: [busy: number, seconds: number][] = [
  [0.98, 300],
  [0.95, 180],
  [0.85, 120],
]
const usual = 60
/** The utilization is measured over at least this many milliseconds. */
const stretch = 1000

/** The value of `X-Poll-Interval`: it rises under load. */
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
