import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeExceeded } from '#http/call.ts'
import { readAccept } from '#http/dialects.ts'
import { errorBody } from '#http/errors.ts'
import { branded, fixed } from '#http/headers.ts'
import { newRequestId } from '#http/listener.ts'
import type { Clock } from '#platform/clock.ts'
import { missing } from '#platform/errors.ts'
import { standardRateLimit } from '#variants.ts'
import type { Fault, InstalledFault } from '../protocol.ts'
import { compileMatch } from './request-match.ts'
import type { Recording } from './requests.ts'

interface Installed {
  fault: InstalledFault
  matches: ReturnType<typeof compileMatch>
}

/** The faults of a world, in the order in which they were added. The first that matches a request decides. */
export class Faults {
  #installed: Installed[] = []
  /** Not put back by a reset, so that a test cannot take a later fault for its own. */
  #count = 0
  /** How many requests each fault that is gone has met. */
  readonly #past = new Map<number, number>()
  #cleared = new AbortController()
  readonly #clock: Clock
  readonly #documentation: () => string
  readonly #idOf: (login: string) => number | undefined

  constructor(clock: Clock, documentation: () => string, idOf: (login: string) => number | undefined) {
    this.#clock = clock
    this.#documentation = documentation
    this.#idOf = idOf
  }

  add(fault: Fault): InstalledFault {
    const installed = { fault: { ...fault, id: ++this.#count, hits: 0 }, matches: compileMatch(fault.match ?? {}) }
    this.#installed.push(installed)
    return installed.fault
  }

  list(): InstalledFault[] {
    return this.#installed.map(({ fault }) => fault)
  }

  /** Also of those that are gone. */
  hitsOf(id: number): Pick<InstalledFault, 'id' | 'hits'> {
    const hits = this.#installed.find(({ fault }) => fault.id === id)?.fault.hits ?? this.#past.get(id)
    if (hits === undefined) throw missing()
    return { id, hits }
  }

  remove(id: number) {
    this.#past.set(id, this.hitsOf(id).hits)
    this.#installed = this.#installed.filter(({ fault }) => fault.id !== id)
  }

  /** Delays end at once. */
  clear() {
    for (const { fault } of this.#installed) this.#past.set(fault.id, fault.hits)
    this.#installed = []
    this.#cleared.abort()
    this.#cleared = new AbortController()
  }

  /** Finds the fault of a request and counts it. */
  take({ record }: Recording): InstalledFault | undefined {
    if (!this.#installed.length) return undefined
    const met = this.#installed.find(
      ({ fault, matches }) => fault.hits < (fault.times ?? Number.POSITIVE_INFINITY) && matches(record),
    )
    if (!met) return undefined
    met.fault.hits++
    record.fault = met.fault.id
    return met.fault
  }

  /** Does what the fault says. Returns true if the request is to be served after that. */
  async apply(fault: Fault, { record, response }: Recording): Promise<boolean> {
    if (fault.delay) await sleep(fault.delay, undefined, { signal: this.#cleared.signal }).catch(() => {})
    if (response.destroyed) return false
    if (fault.drop === 'response') return dropAnswer(response)
    if (fault.drop) {
      response.socket?.destroy()
      return false
    }
    const answer = this.#answerOf(fault, record.user === null ? undefined : this.#idOf(record.user))
    if (!answer) return true
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    const { brand, media_type } = readAccept(record.headers.accept)
    response.writeHead(answer.status, {
      ...fixed[brand],
      [branded(brand, 'Media-Type')]: media_type,
      [branded(brand, 'Request-Id')]: newRequestId(),
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      ...answer.headers,
      ...fault.headers,
    })
    response.end(body)
    return false
  }

  #answerOf(
    fault: Fault,
    user_id: number | undefined,
  ): { status: number; headers: Record<string, string | number>; body: unknown } | undefined {
    const now = Math.floor(this.#clock.now().getTime() / 1000)
    const refuse = (status: number, message: string, headers: Record<string, string | number> = {}) => ({
      status,
      headers,
      body: fault.body ?? errorBody(status, message, this.#documentation()),
    })
    if (fault.expired_token) return refuse(fault.status ?? 401, 'Bad credentials')
    if (fault.rate_limit) {
      const hourly = standardRateLimit[user_id === undefined ? 'anonymous' : 'user']
      return refuse(fault.status ?? 403, describeExceeded(user_id, '127.0.0.1'), {
        'X-RateLimit-Limit': hourly,
        'X-RateLimit-Remaining': 0,
        'X-RateLimit-Used': hourly,
        'X-RateLimit-Reset': now + (fault.retry_after ?? 3600),
        'X-RateLimit-Resource': 'core',
      })
    }
    if (fault.secondary_limit) {
      const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
      return refuse(fault.status ?? 403, message, { 'Retry-After': fault.retry_after ?? 60 })
    }
    if (fault.status === undefined) return undefined
    const retry = fault.retry_after === undefined ? {} : { 'Retry-After': fault.retry_after }
    return refuse(fault.status, messages[fault.status] ?? 'This is a fault that the test asked for.', retry)
  }
}

const messages: Record<number, string> = {
  500: 'Server Error',
  502: 'Server Error',
  503: 'Service unavailable',
  404: 'Not Found',
}

/** The server does what was asked and writes its answer, which goes nowhere. */
function dropAnswer(response: ServerResponse): true {
  const { socket } = response
  response.writeHead = () => response
  response.write = () => true
  response.end = () => {
    socket?.destroy()
    return response
  }
  return true
}
