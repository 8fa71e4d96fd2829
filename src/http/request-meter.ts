import type { FastifyInstance, FastifyRequest } from 'fastify'

/** A request that failed or was slow. */
export interface RequestReport {
  at: Date
  request_id: string
  method: string
  path: string
  status: number
  milliseconds: number
}

/** Slower requests are reported, in milliseconds. Streams and git are long by nature. */
const slow = 1000
const lasting = /\/stream$|\/events\/stream|\.git\/|\/git-(?:upload|receive)-pack$|\/info\/lfs\//
/** Reports between two drains; a failing server must not fill the memory. */
const mostReports = 100

/** Counts the requests of this process, and keeps those that failed or were slow until they are stored. */
export class RequestMeter {
  #requests = 0
  #failed = 0
  #slow = 0
  #milliseconds = 0
  #reports: RequestReport[] = []

  observe(listener: FastifyInstance, db: { now: Date }) {
    listener.addHook('onResponse', (request, reply, done) => {
      const { elapsedTime, statusCode } = reply
      this.#requests++
      if (elapsedTime <= slow && statusCode < 500) this.#milliseconds += elapsedTime
      else this.#report(request, statusCode, elapsedTime, db.now)
      done()
    })
  }

  #report({ id: request_id, method, url }: FastifyRequest, status: number, milliseconds: number, at: Date) {
    const path = url.split('?')[0] ?? ''
    const isLasting = lasting.test(path)
    const isSlow = milliseconds > slow && !isLasting
    if (!isLasting) this.#milliseconds += milliseconds
    if (status >= 500) this.#failed++
    if (isSlow) this.#slow++
    if ((isSlow || status >= 500) && this.#reports.length < mostReports)
      this.#reports.push({ at, request_id, method, path: path.slice(0, 500), status, milliseconds })
  }

  /** What was counted since the last call. */
  drain() {
    const counted = {
      requests: this.#requests,
      failed: this.#failed,
      slow: this.#slow,
      milliseconds: this.#milliseconds,
      reports: this.#reports,
    }
    this.#requests = this.#failed = this.#slow = this.#milliseconds = 0
    this.#reports = []
    return counted
  }
}
