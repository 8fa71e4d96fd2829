import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request as it is passed on, and may be changed before. */
export interface Passed {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
}

/** A response that may be changed before the caller gets it. */
export interface Given {
  status: number
  headers: Map<string, string>
  text: string
}

/** How a server is wrong. */
export interface Fault {
  request?(request: Passed): void | Promise<void>
  answer?(answer: Given, request: Passed): void | Promise<void>
}

/** Passes everything on to a server, but for a fault. */
export async function openWrongServer(right: string, { request: change, answer: spoil }: Fault) {
  const proxy = createServer(async (request, response) => {
    const passed = {
      method: request.method ?? 'GET',
      path: request.url ?? '',
      headers: passedOn(request, url, right),
      body: await buffer(request),
    }
    await change?.(passed)
    const answer = await fetch(`${right}${passed.path}`, {
      method: passed.method,
      headers: passed.headers,
      body: ['GET', 'HEAD'].includes(passed.method) ? null : passed.body,
      redirect: 'manual',
    })
    const own = (text: string) => text.replaceAll(right, url)
    const headers = new Map([...answer.headers].map(([name, value]) => [name, own(value)]))
    for (const name of ['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'set-cookie'])
      headers.delete(name)
    const bytes = Buffer.from(await answer.arrayBuffer())
    // What git sends has no text.
    const isText = !/git/.test(headers.get('content-type') ?? '')
    const given = { status: answer.status, headers, text: isText ? own(bytes.toString()) : '' }
    await spoil?.(given, passed)
    response.writeHead(given.status, { ...Object.fromEntries(headers), 'set-cookie': answer.headers.getSetCookie() })
    response.end([204, 205, 304].includes(given.status) ? '' : isText ? given.text : bytes)
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

function passedOn({ headers }: IncomingMessage, url: string, right: string): Record<string, string> {
  const { host, connection, 'content-length': length, 'transfer-encoding': encoding, ...others } = headers
  return Object.fromEntries(
    Object.entries(others).map(([name, value]) => [name, [value].flat().join(', ').replaceAll(url, right)]),
  )
}
