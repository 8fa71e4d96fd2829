import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { endStreams } from '#http/stream.ts'

/**
 * Closes a listener without cutting anyone off. Node's own way ends idle connections at once, also those on which a request
 * is on its way (measured: 2 of 200); and after a last answer it waits out the keep-alive time, which is over a minute.
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
    // From now on every answer ends its connection, and one that was being written leaves it open for a moment only.
    server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
    server.keepAliveTimeout = 1
    // Connections that the system has accepted for us and we have not seen yet would be reset: let them in first.
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    const ended = new Promise((resolve) => Server.prototype.close.call(server, resolve))
    await silence(connections)
    await listener.close()
    await ended
  }
}

/** Returns when, looked at five times, nothing has moved in either direction: what is left is idle, or in our hands. */
async function silence(connections: Set<Socket>) {
  let [before, unchanged] = [-1, 0]
  while (connections.size > 0 && unchanged < 5) {
    const now = [...connections].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, connections.size)
    unchanged = now === before ? unchanged + 1 : 0
    before = now
    await sleep(20)
  }
}
