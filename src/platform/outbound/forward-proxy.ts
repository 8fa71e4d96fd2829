import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { longestHeaders } from './agent.ts'
import { ForbiddenAddress } from './checked-lookup.ts'
import type { Connector } from './connector.ts'
import { pipeBoth } from './tunnels.ts'

/** A request up to this size is kept, so that it can be sent again when a kept-alive connection turns out to be closed. */
const longestKept = 64 * 1024
/** Headers that concern one connection. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade', 'expect']

/**
 * The status of what the policy refuses. Sources do not send it: git shows only the status, and its user must not take our refusal for the
 * source's.
 */
const refusedByPolicy = 421

export interface ProxyAccount {
  username: string
  password: string
}

/** An HTTP/1.1 proxy for absolute URLs and CONNECT. */
export function openForwardProxy(connector: Connector, { username, password }: ProxyAccount) {
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
  const hasPassword = ({ headers }: IncomingMessage) => {
    const given = Buffer.from(headers['proxy-authorization'] ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
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
  const length = Number(request.headers['content-length'] ?? 0)
  const kept = request.headers['transfer-encoding'] === undefined && length <= longestKept ? await readAll(request) : undefined
  const port = Number(url.port || 80)
  if (kept && request.headers.connection === 'close')
    return copy(request, kept, url, connector.connect(url.hostname, port, request.socket))
  for (let fresh = false; ; fresh = true) {
    const options = {
      ...{ method: request.method, hostname: url.hostname, port, path: url.pathname + url.search },
      ...{ headers: { ...passedOn(request.headersDistinct), host: url.host }, maxHeaderSize: longestHeaders },
      // A request that cannot be sent again gets a new connection.
      ...(kept ? { agent } : { createConnection: () => connector.connect(url.hostname, port) }),
    }
    const sent = sendRequest(options)
    response.once('close', () => sent.destroy())
    if (kept) sent.end(kept)
    else pipeline(request, sent, () => {})
    try {
      const [received] = (await once(sent, 'response')) as [IncomingMessage]
      response.writeHead(received.statusCode ?? 502, passedOn(received.headersDistinct))
      // The client must not take a part of the response for the whole.
      pipeline(received, response, (error) => error && response.destroy())
      return
    } catch (error) {
      // The server closed a kept-alive connection at the moment when we reused it.
      const stale = sent.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
      if (!kept || !stale || fresh) throw error
    }
  }
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

async function readAll(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray())
}

function passedOn(headers: NodeJS.Dict<string[]>) {
  const named = (headers.connection ?? []).flatMap((value) => value.toLowerCase().split(',')).map((name) => name.trim())
  const dropped = new Set([...hopByHop, ...named])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
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
