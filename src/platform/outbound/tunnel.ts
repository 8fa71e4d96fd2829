import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Way } from './egress.ts'

/** Ports on loopback, each of which leads to one host and port as long as this is open. */
export function openTunnels(way: Way) {
  const servers = new Set<Server>()
  const sockets = new Set<Socket>()
  const hostIn = (host: string, port: number) => {
    const literal = host.includes(':') ? `[${host}]` : host
    return way.check(`http://${literal}:${port}/`).hostname
  }
  return {
    /** A connection without a port of ours, likewise. */
    async connect(host: string, port: number): Promise<Socket> {
      const socket = way.connect(hostIn(host, port), port)
      sockets.add(socket.once('close', () => sockets.delete(socket)))
      await once(socket, 'connect')
      return socket
    },
    async open(host: string, port: number): Promise<number> {
      const hostname = hostIn(host, port)
      // One connection tells beforehand whether there is a way at all; those that follow are checked likewise.
      const first = way.connect(hostname, port)
      await once(first, 'connect').finally(() => first.destroy())
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        join(socket, way.connect(hostname, port), sockets)
      })
      servers.add(server)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([...servers].map((server) => new Promise((closed) => server.close(closed))))
    },
  }
}

/** What one says, the other hears, until either is gone. */
export function join(one: Socket, other: Socket, all: Set<Socket>): void {
  for (const [socket, opposite] of [
    [one, other],
    [other, one],
  ] as const) {
    all.add(socket)
    socket
      .on('error', () => {})
      .once('close', () => {
        all.delete(socket)
        opposite.destroySoon()
      })
    socket.pipe(opposite)
  }
}
