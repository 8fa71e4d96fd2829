import type { IncomingMessage, ServerResponse } from 'node:http'
import { isUnserved } from '#http/unserved.ts'
import type { RecordedRequest, RequestMatch } from '../protocol.ts'
import { compileMatch } from './request-match.ts'

/** Older requests are forgotten. */
const most = 2000
/** Bytes of a body that are kept. */
const longestBody = 16_384
const secret = new Set(['authorization', 'cookie', 'proxy-authorization'])

const unreadable = new URL('http://localhost')

/** A request with what its record is made of. */
export interface Recording {
  record: RecordedRequest
  response: ServerResponse
  chunks: Buffer[]
}

/** What clients asked since the last reset, in order. */
export class RequestLog {
  #recordings: Recording[] = []
  #count = 0

  /** `userOf` finds the login of a token. */
  record(
    api: RecordedRequest['api'],
    prefix: string,
    request: IncomingMessage,
    response: ServerResponse,
    userOf: (token: string) => string | undefined,
  ): Recording {
    // The server refuses what is no address, such as `//`.
    const { pathname, searchParams } = URL.parse(`http://localhost${request.url}`) ?? unreadable
    const record: RecordedRequest = {
      number: ++this.#count,
      method: request.method ?? '',
      path: prefix && pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname,
      query: Object.fromEntries(searchParams),
      api,
      user: userOf(tokenIn(request)) ?? null,
      headers: headersOf(request),
      conditional: 'if-none-match' in request.headers || 'if-modified-since' in request.headers,
      body: null,
      status: null,
      fault: null,
      unserved: false,
    }
    const recording = { record, response, chunks: keepBody(request) }
    this.#recordings.push(recording)
    if (this.#recordings.length > most) this.#recordings.shift()
    return recording
  }

  list(match: RequestMatch = {}): RecordedRequest[] {
    for (const { record, response, chunks } of this.#recordings) {
      record.status = response.headersSent ? response.statusCode : null
      record.body ??= readBody(chunks)
      record.unserved = isUnserved(response)
    }
    return this.#recordings.map(({ record }) => record).filter(compileMatch(match))
  }

  clear() {
    this.#recordings = []
    this.#count = 0
  }
}

function tokenIn({ headers: { authorization = '' } }: IncomingMessage) {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? []
  if (scheme.toLowerCase() !== 'basic') return value
  const [name = '', password = ''] = Buffer.from(value, 'base64').toString().split(':')
  return password && password !== 'x-oauth-basic' ? password : name
}

function headersOf({ headers }: IncomingMessage) {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !secret.has(name))
      .map(([name, value]) => [name, String(value)]),
  )
}

/** Copies what the parser puts into the stream. A listener would start the flow before the server reads it. */
function keepBody(request: IncomingMessage): Buffer[] {
  const chunks: Buffer[] = []
  if (!/json/.test(request.headers['content-type'] ?? 'json')) return chunks
  let length = 0
  const push = request.push.bind(request)
  request.push = (chunk, encoding) => {
    length += chunk?.length ?? 0
    if (chunk && length <= longestBody) chunks.push(chunk)
    else if (chunk) chunks.length = 0
    return push(chunk, encoding)
  }
  return chunks
}

function readBody(chunks: Buffer[]): unknown {
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return null
  }
}
