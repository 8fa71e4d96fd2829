import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'

/** Pauses before each attempt to restart, in milliseconds. After the last attempt we give up. */
const pauses = [0, 1000, 2000, 4000, 8000]
/** After running for this long, it gets all attempts again. In milliseconds. */
const steady = 60_000

/**
 * Restarts the embedded PostgreSQL when it ends by itself. Meanwhile requests get 503. `died` resolves when it cannot be restarted, as
 * when the disk is full or its files are damaged.
 */
export async function superviseEmbeddedPostgres(data: string, log: Logger, asked: AbortSignal): Promise<EmbeddedPostgres> {
  const first = await startEmbeddedPostgres(data, log, {}, asked)
  const stopping = new AbortController()
  const signal = AbortSignal.any([asked, stopping.signal])
  let server = first
  let failures = 0

  async function watch() {
    for (;;) {
      const begun = performance.now()
      await server.died
      if (performance.now() - begun > steady) failures = 0
      log.error('the embedded PostgreSQL ended by itself: starting it again; see its last lines with BELFRY_LOG=debug')
      if (!(await startAgain())) return
    }
  }

  async function startAgain(): Promise<boolean> {
    for (; failures < pauses.length; failures++) {
      try {
        await sleep(pauses[failures], undefined, { signal })
        server = await startEmbeddedPostgres(data, log, {}, signal)
        failures++
        return true
      } catch (error) {
        // A shutdown does not wait for this.
        if (signal.aborted) return new Promise(() => {})
        log.error({ err: error }, 'the embedded PostgreSQL could not be started again')
      }
    }
    return false
  }

  return {
    ...first,
    died: watch(),
    async stop() {
      stopping.abort()
      await server.stop()
    },
    kill: () => server.kill(),
  }
}
