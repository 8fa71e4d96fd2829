import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** A way to a server on this machine that is no faster than a line to another one; gives the address to ask instead. */
export async function openLine(address: string, bytesPerSecond: number): Promise<{ url: string } & AsyncDisposable> {
  const { port, hostname: host } = new URL(address)
  const sockets = new Set<Socket>()
  let free = 0
  async function* pace(all: AsyncIterable<Buffer>) {
    for await (const bytes of all) {
      const now = performance.now()
      free = Math.max(free, now) + (bytes.length / bytesPerSecond) * 1000
      await sleep(free - now)
      yield bytes
    }
  }
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(port), host, allowHalfOpen: true })
    for (const socket of [client, upstream]) sockets.add(socket.once('close', () => sockets.delete(socket)))
    // Who breaks off is missed by the other one soon enough.
    pipeline(client, upstream).catch(() => {})
    pipeline(upstream, pace, client).catch(() => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(address)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
