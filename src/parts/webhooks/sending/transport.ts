import tls from 'node:tls'
import type { Agent, buildConnector as connectors } from 'undici'
import { checkedLookup, checkLiteral } from '#platform/outbound/connecting.ts'
import { checkUrl } from '#platform/outbound/destinations.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import { type Exchange, exchange } from './exchange.ts'

export { cut } from './exchange.ts'

const longestHeaders = 32 * 1024
/** Also kept-alive connections are given up after this time, so that a name that moved is looked up again. */
const idle = 10_000
export const connectPatience = 10_000
/** How many addresses are read only once. */
const mostKnown = 1000
/** Where connections of several hooks meet. */
export const connectionsPerHost = 50

export interface Transport {
  /** Posts, and reads the answer; throws what went wrong, see failures.ts. */
  post(
    url: string,
    headers: Record<string, string>,
    body: Buffer,
    insecure_ssl: boolean,
    /** Seconds for all of it. */
    timeout: number,
    stopping: AbortSignal,
  ): Promise<Exchange>
  close(): Promise<void>
}

/** Connections that go only where the policy allows, are kept alive, and follow no redirect. */
export function openTransport(policy: Policy, certificates: string | null, lookup = checkedLookup(policy)): Transport {
  const agents = new Map<Trust, Promise<Agent>>()
  const known = new Map<string, ReturnType<typeof checkUrl>>()
  const agentFor = (trust: Trust) => {
    const agent = agents.get(trust) ?? openAgent(policy, lookup, optionsOf(trust, certificates))
    agents.set(trust, agent)
    return agent
  }
  return {
    async post(text, headers, body, insecure_ssl, timeout, stopping) {
      const checked = known.get(text) ?? checkUrl(text, policy)
      if (known.size >= mostKnown) known.clear()
      known.set(text, checked)
      if ('refused' in checked) throw Object.assign(new Error(checked.refused), { code: 'FORBIDDEN_ADDRESS' })
      const { origin, pathname, search } = checked.url
      const agent = await agentFor(checked.url.protocol === 'http:' ? 'none needed' : insecure_ssl ? 'anyone' : 'those known')
      const request = { origin, path: pathname + search, method: 'POST', headers, body } as const
      return exchange(agent, request, timeout * 1000, stopping)
    },
    async close() {
      await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))
    },
  }
}

/** Whose certificates are taken. */
type Trust = 'none needed' | 'anyone' | 'those known'

/** The roots take megabytes: they are read when the first connection needs them. */
function optionsOf(trust: Trust, certificates: string | null): tls.ConnectionOptions {
  if (trust === 'those known') return { secureContext: trusting(certificates) }
  return trust === 'anyone' ? { rejectUnauthorized: false } : {}
}

/** Made once: to read all the roots takes longer than a delivery. */
export function trusting(certificates: string | null) {
  const roots = new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])
  return tls.createSecureContext({ ca: [...roots, ...(certificates ? [certificates] : [])] })
}

/** undici is loaded with the first delivery: a server without webhooks does without its 15 MB. */
async function openAgent(policy: Policy, lookup: ReturnType<typeof checkedLookup>, options: tls.ConnectionOptions) {
  const { Agent, buildConnector } = await import('undici')
  const connector = buildConnector({
    ...options,
    allowH2: false,
    timeout: connectPatience,
    lookup,
  } as connectors.BuildOptions)
  const connect: connectors.connector = (target, callback) => {
    const refused = checkLiteral(policy, target.hostname)
    if (refused) callback(refused, null)
    else connector(target, callback)
  }
  // Bodies may come slowly as long as the whole exchange ends in time, which the caller sees to.
  const patience = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: idle, keepAliveMaxTimeout: idle }
  return new Agent({ connect, connections: connectionsPerHost, maxHeaderSize: longestHeaders, ...patience })
}
