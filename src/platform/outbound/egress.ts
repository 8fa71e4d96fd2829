import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Agent } from 'undici'
import { bareHost, checkUrl } from './check-url.ts'
import { checkedLookup, checkLiteral, connectPatience, ForbiddenAddress, type Resolve } from './checked-lookup.ts'
import type { Policy } from './policy.ts'
import { openProxy } from './proxy.ts'
import { openRelay } from './relay.ts'
import { openTunnels } from './tunnel.ts'

/**
 * The way out for whatever reaches the network for somebody else. Names are resolved once and checked against the policy, and the
 * connection goes to exactly what was checked. No redirect is followed.
 */
export interface Egress extends AsyncDisposable {
  /** A forwarding proxy on loopback, for programs that speak HTTP. Only who has its password may use it. */
  proxy: Account & { host: string; port: number }
  /** The same for programs that speak SOCKS 5. What passes is not read, so that much passes quickly. */
  relay: Account & { host: string; port: number }
  /** Whose certificates are trusted besides those that the system knows, in PEM form: who uses the proxy checks them itself. */
  certificates: string | null
  /** A port on loopback that leads to one host and port, for programs that know no proxies. */
  tunnel(host: string, port: number): Promise<number>
  /** A connection of our own to one host and port. */
  connect(host: string, port: number): Promise<Socket>
  /** A request of our own; rejects when the policy does not allow it. */
  request(url: string, options?: OutboundRequest): Promise<OutboundAnswer>
}

/** Whom a proxy lets through. */
export interface Account {
  username: string
  password: string
}

export interface OutboundRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  signal?: AbortSignal
  /** Milliseconds without a byte after which it is given up. */
  patience?: number
  /** For whoever may not understand it: what is left of it on the connection is then in nobody's way. */
  own_connection?: boolean
}

export interface OutboundAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Readable
}

/** Where a connection may go, and how it is made. */
export interface Way {
  /** Refuses what need not even be looked up. */
  check(url: string): URL
  /** What is given to `hear` comes by no event; false has the socket wait until it is resumed. The bytes are its own only so long. */
  connect(host: string, port: number, hear?: (bytes: Buffer) => boolean): Socket
}

const ordinaryPatience = 60_000
/** Of what is read at a time for whoever hears it directly. */
const longestPiece = 256 * 1024
/** How often a request is sent whose connection breaks off before there is an answer. */
const mostTries = 3
const isCut = (error: unknown) => ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Certificates: those that are trusted besides the system's, in PEM form. */
export async function openEgress(policy: Policy, certificates: string | null = null, resolve?: Resolve): Promise<Egress> {
  const lookup = checkedLookup(policy, resolve)
  const way: Way = {
    check(text) {
      const checked = checkUrl(text, policy)
      if ('refused' in checked) throw new ForbiddenAddress(checked.refused, text, '')
      return checked.url
    },
    connect(hostname, port, hear) {
      const host = bareHost(hostname)
      const refused = checkLiteral(policy, host)
      if (refused) throw refused
      const onread = hear && {
        buffer: Buffer.allocUnsafe(longestPiece),
        callback: (length: number, buffer: Uint8Array) => hear((buffer as Buffer).subarray(0, length)),
      }
      const socket = connect({
        host,
        port,
        lookup,
        autoSelectFamily: true,
        allowHalfOpen: true,
        noDelay: true,
        ...(onread && { onread }),
      })
      socket.setTimeout(connectPatience, () => socket.destroy(new Error(`${host} did not answer in time`)))
      return socket.once('connect', () => socket.setTimeout(0))
    },
  }
  const agents = new Map<string, Promise<Agent>>()
  const open = async (protocol: string) => {
    const { openAgent, trusting } = await import('./agent.ts')
    return openAgent(policy, lookup, protocol === 'https:' ? { secureContext: trusting(certificates) } : {})
  }
  const agentFor = (protocol: string) => {
    const agent = agents.get(protocol) ?? open(protocol)
    agents.set(protocol, agent)
    return agent
  }
  const account = { username: 'belfry', password: randomBytes(24).toString('base64url') }
  const proxy = await openProxy(way, account)
  const relay = await openRelay(way, account)
  const tunnels = openTunnels(way)
  return {
    proxy: { ...account, host: proxy.host, port: proxy.port },
    relay: { ...account, host: relay.host, port: relay.port },
    certificates,
    tunnel: tunnels.open,
    connect: tunnels.connect,
    async request(text, { method = 'GET', headers = {}, body, signal, own_connection, patience = ordinaryPatience } = {}) {
      const { protocol, origin, pathname, search } = way.check(text)
      const agent = await agentFor(protocol)
      const times = { headersTimeout: patience, bodyTimeout: patience, reset: own_connection ?? false }
      const request = { origin, path: pathname + search, method: method as 'GET', headers, ...times }
      for (let tries = 1; ; tries++) {
        try {
          const answer = await agent.request({ ...request, ...(body !== undefined && { body }), ...(signal && { signal }) })
          return { status: answer.statusCode, headers: answer.headers, body: answer.body }
        } catch (error) {
          // The other side may have closed connections that were kept alive just when we used them again.
          if (tries === mostTries || !isCut(error)) throw error
        }
      }
    },
    async [Symbol.asyncDispose]() {
      const closing = [...agents.values()].map(async (agent) => (await agent).destroy())
      await Promise.all([...[proxy, relay, tunnels].map((each) => each[Symbol.asyncDispose]()), ...closing])
    },
  }
}
