import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const path = '/proc/stat'

/** Seconds that the host of a virtual machine took from each core since its start, of /proc/stat in hundredths. */
function stolenSeconds() {
  const [line = ''] = existsSync(path) ? readFileSync(path, 'utf8').split('\n', 1) : []
  return Number(line.split(/\s+/)[8] ?? 0) / 100 / availableParallelism()
}

/**
 * A host with other guests takes up to two thirds of the time for minutes, as measured. That decides no test, and is not in the limit of one.
 */
export class StolenTime {
  /** Each second: the moment, and what was stolen before. */
  readonly #samples: [moment: number, stolen: number][] = []
  readonly #timer = setInterval(() => this.#sample(), 1000)

  constructor() {
    this.#sample()
    this.#timer.unref()
  }

  #sample() {
    this.#samples.push([performance.now(), stolenSeconds()])
  }

  /** How much was stolen in the last seconds. */
  during(seconds: number) {
    const began = performance.now() - seconds * 1000
    const first = this.#samples.findLast(([moment]) => moment <= began) ?? this.#samples[0]
    return stolenSeconds() - (first?.[1] ?? 0)
  }
}
