import { parseIsoDate } from '#platform/iso-date.ts'
import type { Fault, Path } from './path.ts'
import type { SeedStage } from './seed-stage.ts'

/** An act of the seed, which happens at a time. */
export interface Step {
  path: Path
  at: Date
  run: Run
}

type Run = ((stage: SeedStage) => Promise<unknown>) & { shares?: true }

/** An act that reads and writes the database only by `stage.transaction`, so that it can share a transaction with others. */
export const sharing = (run: Run): Run => Object.assign(run, { shares: true as const })

/** Acts that follow each other, such as those of a repository. Only dates make it independent of the others. */
export interface Thread {
  /** When it began. Nothing of it is earlier. */
  began: Date
  /** The time of its last act with a date, and of those after it. Undefined before the first date. */
  at?: Date
}

const second = 1000

/**
 * Gives each act its time. An act without a date is a second after the one before it in the file; after an act with a date, it is a second
 * after the one before it in its own thread. So a seed without dates happens in the order of the file.
 */
export class Timetable {
  readonly steps: Step[] = []
  readonly faults: Fault[] = []
  #undated: Date

  constructor(start: Date) {
    this.#undated = start
  }

  begin(path: Path, at: string | undefined, run: Step['run'], after?: Date): Thread {
    const thread: Thread = { began: this.#undated, ...(after && { at: after }) }
    thread.began = this.add(thread, path, at, run)
    return thread
  }

  /** Returns its time. */
  add(thread: Thread, path: Path, date: string | undefined, run: Step['run'], field = 'at'): Date {
    const at = this.#timeOf(thread, path, date, field)
    this.steps.push({ path, at, run })
    return at
  }

  /** A date of the seed. February 30 is a fault. */
  read(path: Path, date: string | undefined): Date | undefined {
    const read = date === undefined ? undefined : parseIsoDate(date)
    if (date !== undefined && !read) this.faults.push({ path, message: `"${date}" is not a date of the calendar` })
    return read
  }

  #timeOf(thread: Thread, path: Path, date: string | undefined, field: string): Date {
    const given = this.read([...path, field], date)
    if (given) {
      if (given < thread.began) {
        const began = thread.began.toISOString().replace('.000', '')
        const message = `${date} is before what it belongs to begins (${began}). Set "at" there, or "start" of the seed, to an earlier date`
        this.faults.push({ path: [...path, field], message })
      }
      thread.at = given
      return given
    }
    if (thread.at) {
      thread.at = new Date(thread.at.getTime() + second)
      return thread.at
    }
    this.#undated = new Date(this.#undated.getTime() + second)
    return this.#undated
  }
}
