import { type LookupAddress, type LookupAllOptions, type LookupOptions, lookup } from 'node:dns'
import { isIP } from 'node:net'
import { bareHost } from './check-url.ts'
import type { Policy } from './policy.ts'

/** Milliseconds to establish a connection. */
export const connectPatience = 10_000

/** A connection that the policy refuses. The message may be shown to users, the address only to operators. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS'
  readonly host: string
  readonly address: string

  constructor(reason: string, host: string, address: string) {
    super(reason)
    this.host = host
    this.address = address
  }
}

type Answer = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * A `lookup` for net.connect, tls.connect and undici. It resolves once and returns exactly the addresses that it checked, so that the
 * connection does not depend on later DNS answers. If one address is refused, all are, because retries would use any of them. Sockets do
 * not look up literal addresses: call checkLiteral before connecting to one.
 */
export function checkedLookup(policy: Policy, resolve: Resolve = lookup) {
  return (hostname: string, options: LookupOptions | number | Answer, callback?: Answer): void => {
    const answer = typeof options === 'function' ? options : callback
    if (!answer) throw new TypeError('A lookup needs a callback')
    const asked = typeof options === 'function' ? {} : typeof options === 'number' ? { family: options } : options
    resolve(hostname, { ...asked, all: true }, (error, addresses) => {
      if (error) return answer(error, [])
      const pinned = addresses.map(({ address }) => ({ address, family: isIP(address) }))
      const refused = pinned.map(({ address }) => check(policy, hostname, address)).find((refusal) => refusal)
      const [first] = pinned
      if (refused) answer(refused, [])
      else if (!first) answer(notFound(hostname), [])
      else if (asked.all) answer(null, pinned)
      else answer(null, first.address, first.family)
    })
  }
}

/** Checks a literal address. Names are checked by the lookup. */
export function checkLiteral(policy: Policy, hostname: string): ForbiddenAddress | undefined {
  const host = bareHost(hostname)
  return isIP(host) ? check(policy, host, host) : undefined
}

function check(policy: Policy, host: string, address: string) {
  const reason = policy.whyNot(host, address)
  return reason === undefined ? undefined : new ForbiddenAddress(reason, host, address)
}

function notFound(hostname: string) {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND', hostname })
}
