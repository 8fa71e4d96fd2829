import pg from 'pg'

/** The driver's connection as far as it is used here. Its types leave it out. */
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

/**
 * How many round trips to PostgreSQL this process has made since this module was loaded: sends on a connection that waits for no answer.
 * Statements that are sent together are one round trip.
 */
export const countRoundTrips = () => count
