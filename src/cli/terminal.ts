import { systemClock } from '#platform/clock.ts'
import type { Terminal } from './command.ts'

/** The terminal of this process. */
export function openTerminal(): Terminal {
  const stopping = new AbortController()
  return {
    environment: process.env,
    clock: systemClock,
    print: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
    untilInterrupted() {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
      return stopping.signal
    },
  }
}
