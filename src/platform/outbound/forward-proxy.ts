import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { longestHeaders } from './agent.ts'
import { ForbiddenAddress } from './checked-lookup.ts'
import type { Connector } from './connector.ts'
import { openPasswordCheck, type ProxyAccount } from './proxy-account.ts'
import { passBack, passedOn, readSmallBody, relay } from './relay.ts'
import { pipeBoth } from './tunnels.ts'

/**
 * The status of what the policy refuses. Sources do not send it: git shows only the status, and its user must not take our refusal for the
 * source's.
 */
export const refusedByPolicy = 421

/** An HTTP/1.1 proxy for absolute URLs and CONNECT. */
export function openForwardProxy(connector: Connector, account: ProxyAccount) {
  const hasPassword = openPasswordCheck(account, 'proxy-authorization')
  const open = new Set<Socket>()
  const agent = new Agent({ keepAlive: true })
  agent.createConnection = ({ host, port }) => connector.connect(String(host), Number(port))

  const server = createServer(
    { maxHeaderSize: longestHeaders, requestTimeout: 0, keepAliveTimeout: 60_000 },
    async (request, response) => {
      if (!hasPassword(request)) return refuse(response, 407, 'This proxy requires a password.')
      try {
        await forward(connector, connector.check(request.url ?? ''), request, response, agent)
      } catch (error) {
        const { status, reason } = refusalOf(error)
        if (response.headersSent) response.destroy()
        else refuse(response, status, reason)
      }
    },
  )
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => {})
    if (!hasPassword(request)) return refuseTunnel(client, 407, 'This proxy requires a password.')
    tunnel(connector, request.url ?? '', client, head, open).catch((error) => {
      const { status, reason } = refusalOf(error)
      refuseTunnel(client, status, reason)
    })
  })
  server.on('clientError', (_, socket: Duplex) => socket.destroy())
  return {
    /** Serves a connection from which nothing was read yet. */
    serve(client: Socket) {
      server.emit('connection', client)
      client.resume()
    },
    close() {
      agent.destroy()
      for (const socket of open) socket.destroy()
    },
  }
}

async function forward(connector: Connector, url: URL, request: IncomingMessage, response: ServerResponse, agent: Agent) {
  if (url.protocol !== 'http:') throw new ForbiddenAddress('the proxy forwards http only: use CONNECT for https', url.host, '')
  const body = await readSmallBody(request)
  const { hostname, host, pathname, search } = url
  const port = Number(url.port || 80)
  if (body && request.headers.connection === 'close')
    return copy(request, body, url, connector.connect(hostname, port, request.socket))
  const connect = () => connector.connect(hostname, port)
  const upstream = { hostname, port, path: pathname + search, headers: { host }, agent, connect }
  passBack(await relay(request, response, upstream, body), response)
}

/** Does not parse the response, because it ends with its connection. Parsing takes as long as git needs for the pack. */
async function copy({ method, headersDistinct, socket }: IncomingMessage, body: Buffer, url: URL, upstream: Socket) {
  socket.once('close', () => upstream.destroy())
  await once(upstream, 'connect')
  const headers = { ...passedOn(headersDistinct), host: [url.host], connection: ['close'] }
  const lines = Object.entries(headers).flatMap(([name, values]) => values?.map((value) => `${name}: ${value}\r\n`))
  upstream.write(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  upstream.write(body)
  pipeline(upstream, socket, () => {})
}

async function tunnel(connector: Connector, authority: string, client: Socket, head: Buffer, open: Set<Socket>) {
  const url = connector.check(`https://${authority}/`)
  if (url.pathname !== '/') throw new ForbiddenAddress('the address is not a host and port', authority, '')
  const upstream = connector.connect(url.hostname, Number(url.port || 443), client)
  client.once('close', () => upstream.destroy())
  await once(upstream, 'connect')
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  upstream.write(head)
  pipeBoth(client, upstream, open)
}

function refusalOf(error: unknown) {
  if (error instanceof ForbiddenAddress) return { status: refusedByPolicy, reason: error.message }
  return { status: 502, reason: error instanceof Error ? error.message : 'The host cannot be reached.' }
}

function refuse(response: ServerResponse, status: number, reason: string) {
  const asking = status === 407 ? { 'Proxy-Authenticate': 'Basic realm="belfry"' } : {}
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close', ...asking }).end(`${reason}\n`)
}

function refuseTunnel(client: Socket, status: number, reason: string) {
  const body = Buffer.from(`${reason}\n`)
  const asking = status === 407 ? 'Proxy-Authenticate: Basic realm="belfry"\r\n' : ''
  const lines = `HTTP/1.1 ${status} Refused\r\n${asking}Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  client.end(Buffer.concat([Buffer.from(lines), body]))
}
