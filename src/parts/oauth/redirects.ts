import { domainToASCII } from 'node:url'

export interface Registration {
  callback_url: string
  /** Only exactly the registered address is allowed. */
  strict_redirect: boolean
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The address that an authorization may redirect to, or undefined if it is refused. By default, it is the registered one. Otherwise scheme,
 * host and port must be the registered ones and the path the registered path or below it; on localhost any port is allowed.
 */
export function redirectTarget({ callback_url, strict_redirect }: Registration, asked: string | undefined): string | undefined {
  if (asked === undefined || asked === callback_url) return callback_url
  if (strict_redirect || !isPlain(asked)) return undefined
  const [callback, target] = [URL.parse(callback_url), URL.parse(asked)]
  if (hasAnswer(asked)) return undefined
  if (!callback || !target || !sameHost(callback, target) || !isBelow(callback.pathname, target.pathname)) return undefined
  if (callback.port !== target.port && !isLocalWithPort(asked, target)) return undefined
  return asked
}

/** Whether two addresses are the same: scheme, host and port are compared after parsing, the rest as written. */
export function isSameAddress(one: string, other: string) {
  if (one === other) return true
  const [first, second] = [URL.parse(one), URL.parse(other)]
  const restOf = (text: string) => text.replace(/^[^:]*:\/\/[^/?#]*/, '')
  if (!first || !second || !isPlain(one) || !isPlain(other)) return false
  return sameHost(first, second) && first.port === second.port && restOf(one) === restOf(other)
}

/** Whether an address can be registered: it is absolute, and no browser would run it or read it from disk. */
export function isCallback(text: string) {
  const url = URL.parse(text)
  return (
    isPlain(text) &&
    url !== null &&
    !hasAnswer(text) &&
    !/^(javascript|data|file|vbscript|blob|about|ftp|ws|wss):$/.test(url.protocol) &&
    url.host !== ''
  )
}

/**
 * Refuses everything that two programs could parse differently: user-info, fragment, backslash, space, control characters, dot segments,
 * and encoded slashes, backslashes and dots. Tests the text itself, because parsing would normalize most of this.
 */
function isPlain(text: string) {
  const [, authority = '', path = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)/i.exec(text) ?? []
  return (
    authority !== '' &&
    !authority.includes('@') &&
    !/[\\#\s\p{Cc}]/u.test(text) &&
    !/%(2f|5c|2e|00)/i.test(path) &&
    !path.split('/').some((segment) => segment === '.' || segment === '..')
  )
}

function sameHost(callback: URL, target: URL) {
  return callback.protocol === target.protocol && hostOf(callback) === hostOf(target)
}

/** The host in ASCII form. The parser converts it for http and https only, and leaves hosts of other schemes percent-encoded. */
function hostOf({ hostname }: URL) {
  const plain = hostname.replaceAll(/(?:%[89a-f][\da-f])+/gi, (encoded) =>
    Buffer.from(encoded.replaceAll('%', ''), 'hex').toString(),
  )
  // If this is not a host name, the conversion would keep only the part before the first invalid character.
  return (/^[\p{L}\p{M}\p{N}.-]+$/u.test(plain) && domainToASCII(plain)) || hostname
}

/** The spec's exception: on localhost any port is allowed, if the address has one. */
function isLocalWithPort(asked: string, { hostname, protocol }: URL) {
  return loopback.has(hostname) && /^https?:$/.test(protocol) && /^[^:]*:\/\/[^/?#]*:\d+(?=[/?#]|$)/.test(asked)
}

/** Whether the address belongs to a program on the user's machine (RFC 8252): loopback, or a scheme of the program. */
export function isNative(address: string) {
  const { hostname, protocol } = new URL(address)
  return !/^https?:$/.test(protocol) || loopback.has(hostname)
}

/** `/callback/x` is below `/callback`, `/callback-x` is not. */
function isBelow(base: string, path: string) {
  return path === base || path.startsWith(base.endsWith('/') ? base : `${base}/`)
}

/** Parameters of an answer. In the address itself they would be a second value, which the application may read instead. */
const answers = new Set(['code', 'state', 'error', 'error_description', 'error_uri'])

const namesAnswer = (pair: string) => [...new URLSearchParams(pair).keys()].some((name) => answers.has(name))

const hasAnswer = (address: string) => namesAnswer(queryOf(address))

const queryOf = (address: string) => (address.includes('?') ? address.slice(address.indexOf('?') + 1) : '')

/** Addresses that were registered before answers were refused in them. */
function withoutAnswers(address: string) {
  if (!hasAnswer(address)) return address
  const others = queryOf(address)
    .split('&')
    .filter((pair) => !namesAnswer(pair))
  return `${address.slice(0, address.indexOf('?'))}${others.length ? `?${others.join('&')}` : ''}`
}

/** Appends the parameters of an answer to the query of an address. */
export function withParameters(registered: string, added: Record<string, string | undefined>) {
  const address = withoutAnswers(registered)
  const given = Object.entries(added).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const query = new URLSearchParams(given).toString()
  return `${address}${address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?'}${query}`
}
