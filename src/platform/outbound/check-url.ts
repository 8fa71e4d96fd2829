import { isIP } from 'node:net'
import { hasStrayCharacters } from '../web-address.ts'
import { type Policy, withoutDot } from './policy.ts'

/** The bad ports of the fetch standard: their protocols could interpret an HTTP request as commands. */
const otherPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113,
  115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556,
  563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
  6668, 6669, 6679, 6697, 10080,
])

/**
 * Checks a URL before its host is resolved. Connect to the returned URL, not to the text, where 0x7f.1, 2130706433 and fullwidth digits
 * are all 127.0.0.1. The addresses of a name are checked when connecting.
 */
export function checkUrl(
  text: string,
  policy: Policy,
  protocols: readonly string[] = ['http:', 'https:'],
): { url: URL } | { refused: string } {
  if (hasStrayCharacters(text)) return { refused: 'the address has control characters, or spaces at its ends' }
  const typed = URL.parse(text)
  if (!typed) return { refused: 'the address is not a URL' }
  if (!protocols.includes(typed.protocol)) {
    return { refused: `the address must begin with ${protocols.map((each) => `${each}//`).join(' or ')}` }
  }
  if (typed.username || typed.password) return { refused: 'the address must not hold a user name or password' }
  const url = withPlainHost(typed)
  if (!url) return { refused: 'the address is not a URL' }
  const refused = refusalOfHost(bareHost(url.hostname), policy)
  if (refused) return { refused }
  if (url.port && otherPorts.has(Number(url.port))) return { refused: `port ${url.port} is not for HTTP` }
  return { url }
}

/** Only URLs of http and https have their hosts normalized, so we parse other protocols as http. */
function withPlainHost(url: URL): URL | null {
  if (/^https?:$/.test(url.protocol)) return url
  if (!url.hostname) return null
  const { hostname, pathname } = URL.parse(url.href.replace(/^[^:]*:/, 'http:')) ?? {}
  return hostname ? URL.parse(`${url.protocol}//${hostname}${url.port && `:${url.port}`}${pathname}`) : null
}

function refusalOfHost(host: string, policy: Policy) {
  if (isIP(host)) return policy.whyNot(host, host)
  if (!/^(?=.{1,253}\.?$)([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/.test(host)) return 'the address has no valid host name'
  // Reserved for loopback (RFC 6761), so there is no need to wait for a lookup.
  return /(^|\.)localhost$/.test(withoutDot(host)) ? policy.whyNot(host, '127.0.0.1') : undefined
}

/** URLs write IPv6 addresses in brackets; sockets and lookups do not accept them. */
export function bareHost(hostname: string) {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname
}
