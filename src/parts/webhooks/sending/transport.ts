import type tls from 'node:tls'
import type { Agent } from 'undici'
import { openAgent, trusting } from '#platform/outbound/agent.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import { checkedLookup } from '#platform/outbound/checked-lookup.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import { type Exchange, exchange } from './exchange.ts'

/** How many parsed URLs are cached. */
const mostKnown = 1000

export interface Transport {
  /** Posts and reads the response. For the errors, see failures.ts. */
  post(
    url: string,
    headers: Record<string, string>,
    body: Buffer,
    insecure_ssl: boolean,
    /** For the whole exchange, in seconds. */
    timeout: number,
    stopping: AbortSignal,
  ): Promise<Exchange>
  close(): Promise<void>
}

/** Connections to addresses that the policy allows. They are kept alive; redirects are not followed. */
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
      const agent = await agentFor(checked.url.protocol === 'http:' ? 'no TLS' : insecure_ssl ? 'any' : 'known')
      const request = { origin, path: pathname + search, method: 'POST', headers, body } as const
      return exchange(agent, request, timeout * 1000, stopping)
    },
    async close() {
      await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))
    },
  }
}

/** Which certificates are accepted. */
type Trust = 'no TLS' | 'any' | 'known'

/** The root certificates take megabytes, so they are read when the first connection needs them. */
function optionsOf(trust: Trust, certificates: string | null): tls.ConnectionOptions {
  if (trust === 'known') return { secureContext: trusting(certificates) }
  return trust === 'any' ? { rejectUnauthorized: false } : {}
}
