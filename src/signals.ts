import type { Logger } from '#platform/log.ts'
import type { Running } from '#start.ts'

/** Ctrl-C under npm arrives twice, from the terminal and from npm: only a later one is a second wish. */
const echo = 500

/** The first signal asks for an orderly end, also in the middle of a start; the second for an immediate one. */
export function stopOnSignals(starting: Promise<Running>, log: Logger) {
  let asked_at: number | undefined
  let running: Running | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (asked_at === undefined) {
      asked_at = now
      log.info({ signal }, 'stopping; a second signal ends at once')
      void end(starting, log)
    } else if (now - asked_at > echo) {
      running?.kill()
      process.exit(1)
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  void starting.then(
    async (started) => {
      running = started
      await running.postgres?.died
      if (!running.postgres) return
      log.fatal('the embedded PostgreSQL ended by itself; see its last lines with BELFRY_LOG=debug')
      process.exit(1)
    },
    () => {},
  )
}

async function end(starting: Promise<Running>, log: Logger) {
  try {
    await (await starting).stop()
    log.info('stopped')
    process.exit(0)
  } catch (error) {
    log.fatal({ err: error }, 'could not stop in order')
    process.exit(1)
  }
}
