import tls from 'node:tls'
import type { Agent, buildConnector as connectors } from 'undici'
import { type checkedLookup, checkLiteral, connectPatience } from './checked-lookup.ts'
import type { Policy } from './policy.ts'

export const longestHeaders = 32 * 1024
/** Also closes active kept-alive connections after this time, so that names are resolved again. In milliseconds. */
const idle = 10_000
export const connectionsPerHost = 50

/** Loads undici with the first request, because it takes 15 MB. */
export async function openAgent(
  policy: Policy,
  lookup: ReturnType<typeof checkedLookup>,
  options: tls.ConnectionOptions,
): Promise<Agent> {
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
  // Callers set the time-outs of each request.
  const patience = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: idle, keepAliveMaxTimeout: idle }
  return new Agent({ connect, connections: connectionsPerHost, maxHeaderSize: longestHeaders, ...patience })
}

/** Call it once: reading all root certificates takes longer than a request. */
export function trusting(certificates: string | null): tls.SecureContext {
  const roots = new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])
  return tls.createSecureContext({ ca: [...roots, ...(certificates ? [certificates] : [])] })
}
