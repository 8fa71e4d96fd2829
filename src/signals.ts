import type { Logger } from '#platform/log.ts'
import type { Running } from '#start.ts'

/** Ctrl-C under npm arrives twice, from the terminal and from npm: only a later one is a second wish. */
const echo = 500

/** Milliseconds after which an end for an exception is no longer waited for: twice as long as requests and jobs have. */
const longestEnd = 60_000

/**
 * Begins a start under the watch of signals. The first asks for an orderly end, also in the middle of a start;
 * the second for an immediate one. Gives nothing when an end was asked for before the start was done.
 */
export async function startUnderSignals(
  begin: (asked: AbortSignal) => Promise<Running>,
  log: Logger,
): Promise<Running | undefined> {
  const asked = new AbortController()
  let asked_at = 0
  let running: Running | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (!asked.signal.aborted) {
      asked_at = now
      log.info({ signal }, 'stopping; a second signal ends at once')
      asked.abort()
      if (running) void end(running, log)
    } else if (now - asked_at > echo) {
      running?.kill()
      process.exit(1)
    }
  }
  // A terminal that is closed says SIGHUP.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  // A bug in Belfry. Other work may be in any state, so this process finishes what it can and ends; its supervisor starts another.
  // With this listener an unhandled rejection arrives here too.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception: stopping. This is a bug in Belfry; please report it')
    process.exitCode = 1
    if (asked.signal.aborted) return
    asked_at = performance.now()
    asked.abort()
    setTimeout(() => process.exit(1), longestEnd).unref()
    if (running) void end(running, log)
  })
  try {
    running = await begin(asked.signal)
  } catch (error) {
    if (error !== asked.signal.reason) throw error
    log.info('stopped before the start was done')
    return undefined
  }
  if (asked.signal.aborted) {
    await end(running, log)
    return undefined
  }
  void endWithDatabase(running, log)
  return running
}

async function end(running: Running, log: Logger) {
  try {
    await running.stop()
    log.info('stopped')
    process.exit(process.exitCode ?? 0)
  } catch (error) {
    log.fatal({ err: error }, 'could not stop in order')
    process.exit(1)
  }
}

async function endWithDatabase({ postgres }: Running, log: Logger) {
  if (!postgres) return
  await postgres.died
  log.fatal('the embedded PostgreSQL cannot be started any more; see its last lines with BELFRY_LOG=debug')
  process.exit(1)
}
