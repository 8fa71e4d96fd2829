import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Account, Way } from './egress.ts'
import type { openForwarding } from './forwarding.ts'

/** Listens for programs that speak HTTP. What forwards it is loaded for the first of them: that takes longer than all the rest. */
export async function openProxy(way: Way, account: Account): Promise<{ host: string; port: number } & AsyncDisposable> {
  let forwarding: Promise<ReturnType<typeof openForwarding>> | undefined
  const clients = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, async (client) => {
    clients.add(client)
    client.on('error', () => {}).once('close', () => clients.delete(client))
    forwarding ??= import('./forwarding.ts').then((loaded) => loaded.openForwarding(way, account))
    const { take } = await forwarding
    take(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    async [Symbol.asyncDispose]() {
      await forwarding?.then(({ close }) => close())
      for (const client of clients) client.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
