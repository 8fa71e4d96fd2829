import { setTimeout as sleep } from 'node:timers/promises'
import { Answer, type Exchange, Mismatch, Skip } from './answer.ts'
import type { Liveness } from './liveness.ts'

export interface Request {
  headers?: Record<string, string>
  /** An object is sent as JSON, fields as a form. */
  body?: object | string | URLSearchParams
}

/** What all clients of a run share. */
export interface Wiring {
  /** The address of the API. */
  base: string
  /** The web root. Responses may link to it too, but to no other server. */
  web: string
  /** Milliseconds until a request fails. */
  timeout: number
  signal: AbortSignal
  liveness: Liveness
  /** Told of each request, also of one that is still without a response. */
  onExchange?(exchange: Exchange): void
}

/** Bytes of a body that are read. */
const mostBytes = 8 << 20
/** Characters of a body that a report shows. */
const shown = 1000

/** A caller of the API with its credentials. */
export class Client {
  readonly #wiring: Wiring
  readonly #headers: Record<string, string>

  constructor(wiring: Wiring, headers: Record<string, string>) {
    this.#wiring = wiring
    this.#headers = headers
  }

  /** The same caller with other headers besides. */
  with(headers: Record<string, string>) {
    return new Client(this.#wiring, { ...this.#headers, ...headers })
  }

  get = (path: string, headers: Record<string, string> = {}) => this.send('GET', path, { headers })
  post = (path: string, body?: object | string) => this.send('POST', path, body === undefined ? {} : { body })
  put = (path: string, body?: object | string) => this.send('PUT', path, body === undefined ? {} : { body })
  patch = (path: string, body?: object | string) => this.send('PATCH', path, body === undefined ? {} : { body })
  delete = (path: string) => this.send('DELETE', path)

  /** Redirects are not followed. `path` may be a whole address. */
  async send(method: string, path: string, { headers = {}, body }: Request = {}): Promise<Answer> {
    const { base, timeout, signal, liveness, onExchange } = this.#wiring
    liveness.expect()
    const url = path.startsWith('/') ? `${base}${path}` : this.#ownAddress(path)
    const sent = { ...this.#headers, ...headers }
    const text = body === undefined ? null : bodyText(body)
    const kind = body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'application/json'
    const asked = { method, url, headers: withoutCredentials(sent), body: text && withoutSecrets(text) }
    const silence = { ...asked, status: 0, response_headers: {}, response_body: '' }
    onExchange?.(silence)
    // A server may go on with a request whose client left, and create something after the run has cleaned up: these are waited for.
    const ends = method === 'GET' ? [signal] : []
    try {
      signal.throwIfAborted()
      const response = await fetch(url, {
        method,
        headers: text === null ? sent : { 'content-type': kind, ...sent },
        body: text,
        redirect: 'manual',
        signal: AbortSignal.any([...ends, AbortSignal.timeout(timeout)]),
      })
      liveness.answered()
      const read = await readBody(response)
      const answered = { status: response.status, response_headers: withoutCredentials(Object.fromEntries(response.headers)) }
      const answer = new Answer(
        { ...asked, ...answered, response_body: withoutSecrets(read.slice(0, shown)) },
        response.headers,
        read,
      )
      onExchange?.(answer.exchange)
      if ([403, 429].includes(answer.status) && answer.headers.get('x-ratelimit-remaining') === '0')
        throw new Skip('The rate limit of the server is used up.')
      return answer
    } catch (error) {
      if (signal.aborted || error instanceof Skip || error instanceof Mismatch) throw error
      await liveness.missed(() => this.#isThere())
      throw new Mismatch('a response', describeSilence(error as Error, timeout), silence)
    }
  }

  /** A link that a response has. Credentials must not go to a server that the options do not name. */
  #ownAddress(url: string): string {
    const { base, web } = this.#wiring
    const isOwn = URL.canParse(url) && [base, web].some((own) => isSameServer(new URL(own), new URL(url)))
    const origins = new Set([base, web].map((own) => new URL(own).origin))
    if (!isOwn) throw new Mismatch(`a link to ${[...origins].join(' or ')}`, url)
    return url
  }

  async #isThere() {
    const { base, timeout, signal } = this.#wiring
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
    const response = await fetch(`${base}/user`, { headers: this.#headers, redirect: 'manual', signal: limit }).catch(
      () => undefined,
    )
    await response?.body?.cancel()
    return response !== undefined
  }

  /** Repeats a request until its response is as expected; the last response fails the check. */
  async until(
    path: string,
    expected: string,
    holds: (answer: Answer) => boolean,
    patience = this.#wiring.timeout,
  ): Promise<Answer> {
    const deadline = performance.now() + patience
    for (;;) {
      const answer = await this.get(path)
      if (holds(answer)) return answer
      if (performance.now() > deadline) answer.fail(expected, `${answer.text.slice(0, 300)} after ${patience / 1000} s`)
      await sleep(150, undefined, { signal: this.#wiring.signal })
    }
  }
}

/** Names of this machine are the same server. */
const isSameServer = (one: URL, other: URL) =>
  one.host === other.host || (isLoopback(one) && isLoopback(other) && one.port === other.port)

export const isLoopback = ({ hostname }: URL) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)

function describeSilence(error: Error, timeout: number) {
  if (error.name === 'TimeoutError') return `none within ${timeout / 1000} s`
  const { message, code } = (error.cause ?? error) as NodeJS.ErrnoException
  return `none: ${message || code}`
}

const bodyText = (body: object | string) =>
  typeof body === 'string' ? body : body instanceof URLSearchParams ? `${body}` : JSON.stringify(body)

const withoutCredentials = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (name.toLowerCase() === 'authorization') return [name, `${value.split(' ')[0]} …`]
      return [name, /^(set-)?cookie$/i.test(name) ? '…' : withoutSecrets(value)]
    }),
  )

/** In a JSON or XML body, a form, or the query of an address. */
const withoutSecrets = (text: string) =>
  text
    .replaceAll(
      /((?<!\w)(?:client_secret|access_token|code|password|csrf|authenticity_token)(?:"?[:=]\s*"?|>|" value="))[^"&<\s]+/g,
      '$1…',
    )
    .slice(0, shown)

async function readBody(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > mostBytes) throw new Error(`the body is larger than ${mostBytes >> 20} MB`)
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

export const basic = (login: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${login}:${secret}`).toString('base64')}`,
})
