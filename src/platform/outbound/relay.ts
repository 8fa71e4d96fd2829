import { once } from 'node:events'
import { type Agent, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { longestHeaders } from './agent.ts'

/** A request up to this size is kept, so that it can be sent again when a kept-alive connection turns out to be closed. */
const longestKept = 64 * 1024
/** Headers that concern one connection. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade', 'expect']

/** Where a request goes. */
export interface Upstream {
  hostname: string
  port: number
  path: string
  /** They replace those of the client. */
  headers: Record<string, string>
  agent: Agent
  connect(): Duplex
}

/** The body of a request that is small enough to be sent twice. */
export async function readSmallBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const length = Number(request.headers['content-length'] ?? 0)
  const small = request.headers['transfer-encoding'] === undefined && length <= longestKept
  return small ? Buffer.concat(await request.toArray()) : undefined
}

/** Sends the request of a client to another server, until the client leaves. `body` is set if it was read. */
export async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  { hostname, port, path, headers, agent, connect }: Upstream,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  for (let fresh = false; ; fresh = true) {
    const options = {
      ...{ method: request.method, hostname, port, path, maxHeaderSize: longestHeaders },
      headers: { ...passedOn(request.headersDistinct), ...headers },
      // A request that cannot be sent again gets a new connection.
      ...(body ? { agent } : { createConnection: connect }),
    }
    const sent = sendRequest(options)
    response.once('close', () => sent.destroy())
    if (body) sent.end(body)
    else pipeline(request, sent, () => {})
    try {
      const [received] = (await once(sent, 'response')) as [IncomingMessage]
      return received
    } catch (error) {
      // The server closed a kept-alive connection at the moment when we reused it.
      const stale = sent.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
      if (!body || !stale || fresh) throw error
    }
  }
}

export function passBack(received: IncomingMessage, response: ServerResponse) {
  response.writeHead(received.statusCode ?? 502, passedOn(received.headersDistinct))
  // The client must not take a part of the response for the whole.
  pipeline(received, response, (error) => error && response.destroy())
}

export function passedOn(headers: NodeJS.Dict<string[]>) {
  const named = (headers.connection ?? []).flatMap((value) => value.toLowerCase().split(',')).map((name) => name.trim())
  const dropped = new Set([...hopByHop, ...named])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
}
