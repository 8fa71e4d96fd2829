import { basename } from 'node:path'
import { styleText } from 'node:util'
import { kindOf, type Recorded, sizeOf } from './files.ts'
import type { TestReport } from './messages.ts'
import { minutes, Screen } from './screen.ts'

/** What a run has seen so far, and its screen. */
export class Tally {
  readonly screen: Screen
  tests = 0
  failed = 0
  skipped = 0
  /** Everything that is wrong: tests, lint, types, and processes that crash or do not end. */
  readonly faults: { name: string; place: string }[] = []
  readonly failedFiles = new Set<string>()
  /** Of each file that is done. */
  readonly #seconds = new Map<string, number>()
  /** Files that did not run, by the packages that they need. */
  readonly #lacking = new Map<string, string[]>()
  readonly running = new Map<unknown, string>()
  readonly #expected = { tests: 0, seconds: 0 }
  readonly #testsOf = new Map<string, number>()
  /** By the recorded durations. */
  #secondsDone = 0

  constructor(files: string[]) {
    for (const [seconds, tests] of files.map(sizeOf)) {
      this.#expected.seconds += seconds
      this.#expected.tests += tests
    }
    this.screen = new Screen((seconds) => this.#status(seconds))
  }

  /** How far the run is after some seconds. */
  #status(seconds: number) {
    const share = this.#expected.seconds ? this.#secondsDone / this.#expected.seconds : 0
    const left = share > 0.02 && share < 1 ? `, about ${minutes((seconds / share) * (1 - share))} left` : ''
    const faults = this.faults.length ? `, ${this.faults.length} failed` : ''
    const files = [...this.running.values()].map((file) => basename(file).replace(/(\.slow)?\.test\.ts$/, ''))
    const all = Math.max(this.#expected.tests, this.tests)
    return `${this.tests} of ${all} tests${faults}, ${minutes(seconds)}${left}${files.length ? `: ${files.join(' ')}` : ''}`
  }

  count({ name, file, line, outcome, reason = '', outer }: TestReport) {
    this.tests++
    this.#testsOf.set(file, (this.#testsOf.get(file) ?? 0) + 1)
    if (outcome === 'skipped') this.skipped++
    if (outcome !== 'failed') return
    this.failed++
    this.failedFiles.add(file)
    if (!outer) this.fault(name, `${file}:${line}`, reason)
  }

  fault(name: string, place: string, reason: string) {
    this.faults.push({ name, place })
    this.screen.failure(name, place, reason)
  }

  /** Slow files may need other programs; the others run everywhere. */
  lack(file: string, packages: string[]) {
    const names = packages.join(' ')
    if (kindOf(file) === 'fast') this.fault('a fast test needs packages', file, names)
    this.#lacking.set(names, [...(this.#lacking.get(names) ?? []), file])
  }

  end(file: string, seconds: number) {
    this.#secondsDone += sizeOf(file)[0]
    this.#seconds.set(file, seconds)
  }

  /** Events of a file arrive after its end, so they are counted when all is over. */
  sizes(): Recorded {
    return Object.fromEntries([...this.#seconds].map(([file, seconds]) => [file, [seconds, this.#testsOf.get(file) ?? 0]]))
  }

  /** The ten files that took longest, everything that failed, and the closing line. */
  summary() {
    const order = [...this.#seconds].sort(([, a], [, b]) => b - a)
    const slowest = order.slice(0, 10).map(([file, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${file}`)
    const faults = this.faults.map(({ name, place }) => `✖ ${name} (${place})`)
    const counts = `tests ${this.tests}, pass ${this.tests - this.failed - this.skipped}, fail ${this.failed}, skipped ${this.skipped}`
    const lacking = [...this.#lacking].map(
      ([names, files]) => `${files.length} files did not run. On Debian: apt-get install ${names}`,
    )
    return [
      ...lacking,
      ...(slowest.length > 1 ? ['The slowest files:', ...slowest] : []),
      ...(faults.length ? ['', '✖ failing tests:', ...faults, ''] : []),
      styleText(faults.length ? 'red' : 'green', `ℹ ${counts}, in ${minutes(this.screen.seconds)}`),
    ].join('\n')
  }
}
