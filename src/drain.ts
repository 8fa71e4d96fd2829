import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { endStreams } from '#http/stream.ts'

/**
 * Closes a listener without losing requests. Node's own close ends idle connections at once, even if a request has been sent
 * (measured: 2 of 200), and after the last response it waits for the keep-alive time, which is over a minute.
 */
export function prepareDrain(listener: FastifyInstance): () => Promise<void> {
  const { server } = listener
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return async () => {
    endStreams(listener)
    // From now on every response closes its connection. One that is being written keeps it open for a moment only.
    server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
    server.keepAliveTimeout = 1
    // The system may have accepted connections that Node has not seen yet. They would be reset, so accept them first.
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    const ended = new Promise((resolve) => Server.prototype.close.call(server, resolve))
    await untilQuiet(connections)
    await listener.close()
    await ended
  }
}

/** Returns when five checks in a row saw no bytes in either direction: remaining connections are idle or being served. */
async function untilQuiet(connections: Set<Socket>) {
  let [before, unchanged] = [-1, 0]
  while (connections.size > 0 && unchanged < 5) {
    const now = [...connections].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, connections.size)
    unchanged = now === before ? unchanged + 1 : 0
    before = now
    await sleep(20)
  }
}
