import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { longestHeaders } from './agent.ts'
import { ForbiddenAddress } from './checked-lookup.ts'
import type { Account, Way } from './egress.ts'
import { join } from './tunnel.ts'

/** A request up to this size is kept, so that it can be sent again when a kept-alive connection turns out to be closed. */
const longestKept = 64 * 1024
/** What is said of one connection, and not of the way behind it. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade', 'expect']

/** Passes on what the policy allows, for whoever has the password; speaks HTTP/1.1 with absolute addresses and CONNECT. */
export function openForwarding(way: Way, { username, password }: Account) {
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
  const isKnown = ({ headers }: IncomingMessage) => {
    const given = Buffer.from(headers['proxy-authorization'] ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  const joined = new Set<Socket>()
  const agent = new Agent({ keepAlive: true })
  agent.createConnection = ({ host, port }) => way.connect(String(host), Number(port))

  const server = createServer(
    { maxHeaderSize: longestHeaders, requestTimeout: 0, keepAliveTimeout: 60_000 },
    async (asked, answer) => {
      if (!isKnown(asked)) return refuse(answer, 407, 'This proxy asks for a password.')
      try {
        await forward(way, way.check(asked.url ?? ''), asked, answer, agent)
      } catch (error) {
        const { status, reason } = refusalOf(error)
        if (answer.headersSent) answer.destroy()
        else refuse(answer, status, reason)
      }
    },
  )
  server.on('connect', (asked: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => {})
    if (!isKnown(asked)) return refuseTunnel(client, 407, 'This proxy asks for a password.')
    tunnel(way, asked.url ?? '', client, head, joined).catch((error) => {
      const { status, reason } = refusalOf(error)
      refuseTunnel(client, status, reason)
    })
  })
  server.on('clientError', (_, socket: Duplex) => socket.destroy())
  return {
    /** Serves a connection that nothing was read from yet. */
    take(client: Socket) {
      server.emit('connection', client)
      client.resume()
    },
    close() {
      agent.destroy()
      for (const socket of joined) socket.destroy()
    },
  }
}

async function forward(way: Way, url: URL, asked: IncomingMessage, answer: ServerResponse, agent: Agent) {
  if (url.protocol !== 'http:') throw new ForbiddenAddress('only http is forwarded: for https there is CONNECT', url.host, '')
  const length = Number(asked.headers['content-length'] ?? 0)
  const kept = asked.headers['transfer-encoding'] === undefined && length <= longestKept ? await readAll(asked) : undefined
  for (let fresh = false; ; fresh = true) {
    const port = Number(url.port || 80)
    const options = {
      ...{ method: asked.method, hostname: url.hostname, port, path: url.pathname + url.search },
      ...{ headers: { ...passedOn(asked.headersDistinct), host: url.host }, maxHeaderSize: longestHeaders },
      // What cannot be sent again has a connection of its own.
      ...(kept ? { agent } : { createConnection: () => way.connect(url.hostname, port) }),
    }
    const sent = request(options)
    answer.once('close', () => sent.destroy())
    if (kept) sent.end(kept)
    else pipeline(asked, sent, () => {})
    try {
      const [answered] = (await once(sent, 'response')) as [IncomingMessage]
      answer.writeHead(answered.statusCode ?? 502, passedOn(answered.headersDistinct))
      // Whoever hears only a part must not take it for the whole.
      pipeline(answered, answer, (error) => error && answer.destroy())
      return
    } catch (error) {
      // The other side had closed a connection that was kept alive just when we used it again.
      const stale = sent.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
      if (!kept || !stale || fresh) throw error
    }
  }
}

async function readAll(asked: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await asked.toArray())
}

function passedOn(headers: NodeJS.Dict<string[]>) {
  const named = (headers.connection ?? []).flatMap((value) => value.toLowerCase().split(/\s*,\s*/))
  const dropped = new Set([...hopByHop, ...named])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
}

async function tunnel(way: Way, authority: string, client: Socket, head: Buffer, joined: Set<Socket>) {
  const url = way.check(`https://${authority}/`)
  if (url.pathname !== '/') throw new ForbiddenAddress('the address is not a host and port', authority, '')
  const upstream = way.connect(url.hostname, Number(url.port || 443))
  client.once('close', () => upstream.destroy())
  await once(upstream, 'connect')
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  upstream.write(head)
  join(client, upstream, joined)
}

/** Why it does not go on: what the policy says, or that there was no way. */
function refusalOf(error: unknown) {
  if (error instanceof ForbiddenAddress) return { status: 403, reason: error.message }
  return { status: 502, reason: error instanceof Error ? error.message : 'It could not be reached.' }
}

function refuse(answer: ServerResponse, status: number, reason: string) {
  const asking = status === 407 ? { 'Proxy-Authenticate': 'Basic realm="belfry"' } : {}
  answer.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close', ...asking }).end(`${reason}\n`)
}

function refuseTunnel(client: Socket, status: number, reason: string) {
  const body = Buffer.from(`${reason}\n`)
  const asking = status === 407 ? 'Proxy-Authenticate: Basic realm="belfry"\r\n' : ''
  const lines = `HTTP/1.1 ${status} Refused\r\n${asking}Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  client.end(Buffer.concat([Buffer.from(lines), body]))
}
