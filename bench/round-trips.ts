import { writeFileSync } from 'node:fs'
import pg from 'pg'

// Loaded before a Belfry that is measured. Counts round trips to PostgreSQL: sends on a connection that waits for no answer. Statements
// that are sent together are one round trip. SIGUSR2 writes the count to the file that BENCH_ROUND_TRIPS names.
interface Wire {
  prependListener(event: string, listener: () => void): void
  sync(): void
  query(text: string): void
}

const waiting = new WeakMap<Wire, number>()
let count = 0

function noteSend(wire: Wire) {
  const ahead = waiting.get(wire)
  // Before the driver's own listener, which may send the next statement.
  if (ahead === undefined)
    wire.prependListener('readyForQuery', () => waiting.set(wire, Math.max(0, (waiting.get(wire) ?? 1) - 1)))
  if (!ahead) count++
  waiting.set(wire, (ahead ?? 0) + 1)
}

const prototype = (pg as unknown as { Connection: { prototype: Wire } }).Connection.prototype
const { sync, query } = prototype
prototype.sync = function (this: Wire) {
  noteSend(this)
  sync.call(this)
}
prototype.query = function (this: Wire, text: string) {
  noteSend(this)
  query.call(this, text)
}

const file = process.env.BENCH_ROUND_TRIPS
if (file) process.on('SIGUSR2', () => writeFileSync(file, `${count}\n`))
