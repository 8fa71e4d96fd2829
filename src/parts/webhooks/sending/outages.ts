import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseUnavailable } from '#platform/unavailable.ts'

/** How long to wait before reading again during an outage of the database, in milliseconds. */
const pause = 1000

/** Repeats `read` during an outage of the database, as long as the result is `wanted`. */
export async function patiently<T>(read: () => Promise<T>, wanted: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
      await sleep(pause)
      if (!wanted()) throw error
    }
  }
}
