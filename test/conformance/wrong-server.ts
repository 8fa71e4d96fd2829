import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Passes everything on to a server, but breaks one header and one status. */
export async function openWrongServer(right: string) {
  const proxy = createServer(async (request, response) => {
    const path = request.url ?? ''
    const answer = await fetch(`${right}${path}`, {
      method: request.method ?? 'GET',
      headers: passedOn(request),
      body: ['GET', 'HEAD'].includes(request.method ?? '') ? null : await buffer(request),
      redirect: 'manual',
    })
    const own = (text: string) => text.replaceAll(right, url)
    const headers = new Map([...answer.headers].map(([name, value]) => [name, own(value)]))
    for (const name of ['content-encoding', 'content-length', 'transfer-encoding', 'connection']) headers.delete(name)
    if (/\/networks\/[^?]*\/events/.test(path)) headers.delete('x-poll-interval')
    const isDeletion = request.method === 'DELETE' && /\/hooks\/\d+$/.test(path) && answer.status === 204
    response.writeHead(isDeletion ? 200 : answer.status, Object.fromEntries(headers))
    response.end(own(await answer.text()))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return {
    url,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

function passedOn({ headers }: IncomingMessage): Record<string, string> {
  const { host, connection, 'content-length': length, 'transfer-encoding': encoding, ...others } = headers
  return Object.fromEntries(Object.entries(others).map(([name, value]) => [name, [value].flat().join(', ')]))
}
