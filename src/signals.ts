import type { Logger } from '#platform/log.ts'
import type { Running } from '#start.ts'

/** Ctrl-C under npm arrives twice, from the terminal and from npm. Milliseconds in which the second one does not count. */
const echo = 500

/** Milliseconds that stopping after an exception may take. Requests and jobs have 20 s each. */
const longestStop = 60_000

/**
 * Runs a start and handles signals from its beginning. The first signal stops in order, the second at once.
 * Returns undefined when a signal came before the start was complete.
 */
export async function startUnderSignals(
  begin: (signal: AbortSignal) => Promise<Running>,
  log: Logger,
): Promise<Running | undefined> {
  const stopping = new AbortController()
  let first_signal_at = 0
  let running: Running | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (!stopping.signal.aborted) {
      first_signal_at = now
      log.info({ signal }, 'stopping; send a second signal to stop at once')
      stopping.abort()
      if (running) void end(running, log)
    } else if (now - first_signal_at > echo) {
      running?.kill()
      process.exit(1)
    }
  }
  // Closing a terminal sends SIGHUP.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  // A bug in Belfry: other work may be in any state, so the process stops and its supervisor starts another.
  // Node reports unhandled rejections here too.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception: stopping. This is a bug in Belfry. Please report it with this log line')
    process.exitCode = 1
    if (stopping.signal.aborted) return
    first_signal_at = performance.now()
    stopping.abort()
    setTimeout(() => process.exit(1), longestStop).unref()
    if (running) void end(running, log)
  })
  try {
    running = await begin(stopping.signal)
  } catch (error) {
    if (error !== stopping.signal.reason) throw error
    log.info('stopped before the start was complete')
    return undefined
  }
  if (stopping.signal.aborted) {
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
    log.fatal({ err: error }, 'could not stop in order; the next start cleans up')
    process.exit(1)
  }
}

async function endWithDatabase({ postgres }: Running, log: Logger) {
  if (!postgres) return
  await postgres.died
  log.fatal('the embedded PostgreSQL cannot be restarted; start Belfry with BELFRY_LOG=debug to see what PostgreSQL prints')
  process.exit(1)
}
