import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Connector } from './connector.ts'

/** Opens ports on loopback; each leads to one host and port until the tunnels are closed. */
export function openTunnels(connector: Connector) {
  const servers = new Set<Server>()
  const sockets = new Set<Socket>()
  const checkedHost = (host: string, port: number) => {
    const literal = host.includes(':') ? `[${host}]` : host
    return connector.check(`http://${literal}:${port}/`).hostname
  }
  return {
    async connect(host: string, port: number): Promise<Socket> {
      const socket = connector.connect(checkedHost(host, port), port)
      sockets.add(socket.once('close', () => sockets.delete(socket)))
      await once(socket, 'connect')
      return socket
    },
    async open(host: string, port: number): Promise<number> {
      const hostname = checkedHost(host, port)
      // A first connection shows whether the host is allowed and reachable. Later ones are checked again.
      const first = connector.connect(hostname, port)
      await once(first, 'connect').finally(() => first.destroy())
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        pipeBoth(socket, connector.connect(hostname, port), sockets)
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

/** Copies bytes in both directions until one socket closes. Both are in `open` until then. */
export function pipeBoth(one: Socket, other: Socket, open: Set<Socket>): void {
  for (const [socket, opposite] of [
    [one, other],
    [other, one],
  ] as const) {
    open.add(socket)
    socket
      .on('error', () => {})
      .once('close', () => {
        open.delete(socket)
        opposite.destroySoon()
      })
    socket.pipe(opposite)
  }
}
