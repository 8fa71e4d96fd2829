import { headerOf, readBody } from '#importer/probe-http.ts'
import { ImportFailure } from '#importer/source.ts'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'

const largestDocument = 32 << 20
const largestElement = 1 << 20

/** A refusal with its HTTP status. */
export class Refused extends ImportFailure {
  readonly status: number

  constructor(message: string, status: number, kind: 'error' | 'auth' = 'error') {
    super(message, kind)
    this.status = status
  }
}

/** A redirect to another address. */
export class Moved extends ImportFailure {
  readonly to: URL

  constructor(to: URL) {
    super(`The address has moved to ${to.protocol}//${to.host}. Import from there.`)
    this.to = to
  }
}

/** An error that a retry may resolve. */
export class TransientError extends Error {
  /** Whether the server sent Retry-After. */
  readonly retryAfter: boolean
  /** The maximum number of attempts. */
  readonly attempts: number

  constructor(message: string, { retryAfter = false, attempts = Infinity } = {}) {
    super(message)
    this.retryAfter = retryAfter
    this.attempts = attempts
  }
}

export class UnknownVersion extends ImportFailure {}

/** Throws unless the status is 200. */
export async function checkStatus(answer: OutboundAnswer, path: string): Promise<void> {
  const { status } = answer
  if (status === 200) return
  if (status === 401 || status === 203) throw new Refused(authHint(answer), status, 'auth')
  if (status >= 300 && status < 400) throw redirected(answer)
  const { message, type } = await errorOf(answer)
  if (status === 400 && /^Vss(Version|InvalidPreviewVersion)/.test(type)) throw new UnknownVersion(message)
  const text = `The server answered ${status} to ${path}${message && `: ${message}`}`
  if (status === 403 && type) throw new Refused(`${text}. The account needs permission to read the code.`, status, 'auth')
  if (status === 429 || status >= 500) throw new TransientError(text, { retryAfter: headerOf(answer, 'retry-after') !== '' })
  throw new Refused(text, status)
}

function authHint(answer: OutboundAnswer) {
  const schemes = headerOf(answer, 'www-authenticate')
  const basic = schemes === '' || /\b(basic|bearer)\b/i.test(schemes)
  return basic
    ? 'The server does not accept the user name and password. Use a personal access token with permission to read code as the password.'
    : 'The server accepts only Windows sign-ins. Use a personal access token as the password, or enable Basic authentication.'
}

/** Addresses of sign-in pages. */
const signingIn = /sign-?_?in|log-?_?[io]n\b|login|oauth2?\/|\/authorize|\/adfs\//i

function redirected(answer: OutboundAnswer) {
  const { status } = answer
  const to = URL.parse(headerOf(answer, 'location'))
  if (to?.protocol === 'https:' && !signingIn.test(to.pathname)) return new Moved(to)
  if (signingIn.test(headerOf(answer, 'location'))) return new Refused(authHint(answer), status, 'auth')
  return new Refused(`The server answered ${status} and redirects elsewhere. Start an import from that address.`, status)
}

async function errorOf(answer: OutboundAnswer): Promise<{ message: string; type: string }> {
  try {
    const document: unknown = JSON.parse((await readAll(answer, 64 << 10)).toString())
    const { message, typeKey } = document as Record<string, unknown>
    const plain = String(message ?? '').replace(/\p{Cc}+/gu, ' ')
    return { message: plain.slice(0, 300), type: String(typeKey ?? '') }
  } catch {
    return { message: '', type: '' }
  }
}

export async function readJson(answer: OutboundAnswer, path: string): Promise<unknown> {
  const text = (await readAll(answer, largestDocument)).toString()
  try {
    return JSON.parse(text)
  } catch {
    throw new Refused(`The server answered ${path} with something that is not JSON.`, answer.status)
  }
}

const readAll = (answer: OutboundAnswer, max: number) =>
  readBody(answer, max, `The server sent more than ${max >> 20} MB where a page was requested.`)

/** Yields the elements of a list as they arrive, because a list may be larger than memory. */
export async function* readElements({ body }: OutboundAnswer): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let text = ''
  let at = 0
  let start = -1
  let depth = 0
  let quoted = false
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += decoder.decode(chunk, { stream: true })
    for (; at < text.length; at++) {
      const character = text.charCodeAt(at)
      if (quoted) {
        if (character === backslash) at += 1
        else if (character === quote) quoted = false
      } else if (character === quote) quoted = true
      else if (character === openBrace || character === openBracket) {
        depth += 1
        // The elements are objects in an array in an object.
        if (depth === 3 && character === openBrace) start = at
      } else if (character === closeBrace || character === closeBracket) {
        depth -= 1
        if (depth !== 2 || start < 0) continue
        yield parsed(text.slice(start, at + 1))
        start = -1
      }
    }
    const kept = start < 0 ? text.length : start
    if (text.length - kept > largestElement) throw new ImportFailure('The server sent a list element of more than 1 MB.')
    text = text.slice(kept)
    at -= kept
    if (start > 0) start = 0
  }
  if (depth !== 0 || quoted) throw new TransientError('the list ended early')
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [...'"\\{}[]'].map((each) => each.charCodeAt(0))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ImportFailure('The server sent a list that is not JSON.')
  }
}
