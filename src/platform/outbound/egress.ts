import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Agent } from 'undici'
import { checkedLookup, type Resolve } from './checked-lookup.ts'
import { openConnector } from './connector.ts'
import type { Gateway, GatewayOptions, openGateways } from './gateways.ts'
import type { Policy } from './policy.ts'
import { openProxy } from './proxy.ts'
import { makeAccount, type ProxyAccount } from './proxy-account.ts'
import { openTunnels } from './tunnels.ts'

/**
 * The network access of an import. Names are resolved once and checked against the policy, and the connection goes to exactly the address
 * that was checked. No redirect is followed.
 */
export interface Egress extends AsyncDisposable {
  /** An HTTP proxy on loopback, with a password. */
  proxy: ProxyAccount & { host: string; port: number }
  /** CA certificates (PEM) to trust in addition to the system's: clients of the proxy check certificates themselves. */
  certificates: string | null
  /** A port on loopback that leads to one host and port, for programs that cannot use a proxy. */
  tunnel(host: string, port: number): Promise<number>
  /** An HTTP server on loopback that leads to one origin and refuses its redirects, for programs that would follow them. */
  gateway(origin: string, options: GatewayOptions): Promise<Gateway>
  connect(host: string, port: number): Promise<Socket>
  /** Rejects when the policy does not allow the request. */
  request(url: string, options?: OutboundRequest): Promise<OutboundAnswer>
}

export interface OutboundRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  signal?: AbortSignal
  /** Milliseconds without a byte after which the request fails. */
  patience?: number
  /** Closes the connection afterwards: a server that misread the request may send more than one answer. */
  own_connection?: boolean
}

export interface OutboundAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Readable
}

const defaultPatience = 60_000
/** How often a request is sent whose connection breaks before an answer. */
const mostTries = 3
const isBroken = (error: unknown) =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

export async function openEgress(policy: Policy, certificates: string | null = null, resolve?: Resolve): Promise<Egress> {
  const lookup = checkedLookup(policy, resolve)
  const connector = openConnector(policy, lookup)
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
  const account = makeAccount()
  const proxy = await openProxy(connector, account)
  const tunnels = openTunnels(connector)
  let gateways: Promise<ReturnType<typeof openGateways>> | undefined
  return {
    proxy: { ...account, host: proxy.host, port: proxy.port },
    certificates,
    tunnel: tunnels.open,
    async gateway(origin, options) {
      gateways ??= import('./gateways.ts').then(({ openGateways }) => openGateways(connector, certificates))
      return (await gateways).open(origin, options)
    },
    connect: tunnels.connect,
    async request(text, { method = 'GET', headers = {}, body, signal, own_connection, patience = defaultPatience } = {}) {
      const { protocol, origin, pathname, search } = connector.check(text)
      const agent = await agentFor(protocol)
      const times = { headersTimeout: patience, bodyTimeout: patience, reset: own_connection ?? false }
      const request = { origin, path: pathname + search, method: method as 'GET', headers, ...times }
      for (let tries = 1; ; tries++) {
        try {
          const answer = await agent.request({ ...request, ...(body !== undefined && { body }), ...(signal && { signal }) })
          return { status: answer.statusCode, headers: answer.headers, body: answer.body }
        } catch (error) {
          // The server may close a kept-alive connection at the moment when we reuse it.
          if (tries === mostTries || !isBroken(error)) throw error
        }
      }
    },
    async [Symbol.asyncDispose]() {
      const closing = [...agents.values()].map(async (agent) => (await agent).destroy())
      const opened = [proxy, tunnels, ...(gateways ? [await gateways] : [])]
      await Promise.all([...opened.map((each) => each[Symbol.asyncDispose]()), ...closing])
    },
  }
}
