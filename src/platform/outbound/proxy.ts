import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Connector } from './connector.ts'
import type { openForwardProxy } from './forward-proxy.ts'
import type { ProxyAccount } from './proxy-account.ts'

/** Listens for HTTP clients. The code that serves them is loaded with the first one, because loading takes longer than the rest of a start. */
export async function openProxy(
  connector: Connector,
  account: ProxyAccount,
): Promise<{ host: string; port: number } & AsyncDisposable> {
  let loaded: Promise<ReturnType<typeof openForwardProxy>> | undefined
  const clients = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, async (client) => {
    clients.add(client)
    client.on('error', () => {}).once('close', () => clients.delete(client))
    loaded ??= import('./forward-proxy.ts').then(({ openForwardProxy }) => openForwardProxy(connector, account))
    const { serve } = await loaded
    serve(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    async [Symbol.asyncDispose]() {
      await loaded?.then(({ close }) => close())
      for (const client of clients) client.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
