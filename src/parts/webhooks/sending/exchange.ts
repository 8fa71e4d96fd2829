import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Agent, Dispatcher } from 'undici'

/** The longest response body that is stored, in bytes. */
const longestBody = 64 * 1024

export interface Exchange {
  status_code: number
  headers: Record<string, string>
  body: string
}

/** No response came in time, or the sender stops and cannot wait for it. */
export class TimedOut extends Error {}

/** Sends a request and reads the response within `timeout` milliseconds. For the errors, see failures.ts. */
export async function exchange(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  timeout: number,
  stopping: AbortSignal,
): Promise<Exchange> {
  let attempt = new Attempt()
  const end = () => attempt.end(new TimedOut())
  const timer = setTimeout(end, timeout)
  const forget = onAbort(stopping, end)
  try {
    for (;;) {
      agent.dispatch(request, attempt)
      const outcome = await attempt.outcome
      if (outcome !== 'stale') return outcome
      attempt = new Attempt()
    }
  } finally {
    clearTimeout(timer)
    forget()
  }
}

const ends = new WeakMap<AbortSignal, Set<() => void>>()

/** One listener for all exchanges, because adding and removing one for each costs more than a timer. */
function onAbort(stopping: AbortSignal, end: () => void): () => void {
  const all = ends.get(stopping) ?? new Set()
  if (!ends.has(stopping)) {
    ends.set(stopping, all)
    stopping.addEventListener('abort', () => {
      for (const each of all) each()
    })
  }
  all.add(end)
  return () => all.delete(end)
}

const used = new WeakSet<Socket>()
let starting: Attempt | undefined

// undici does not pass the connection to the handler, but publishes it in the same tick in which the request starts.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket }
  if (starting) starting.reused = used.has(socket)
  if (starting) used.add(socket)
  starting = undefined
})

class Attempt implements Dispatcher.DispatchHandler {
  reused = false
  readonly #outcome = Promise.withResolvers<Exchange | 'stale'>()
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #ended: Error | undefined
  #responded = false
  #status_code = 0
  #headers: Record<string, string> = {}
  #size = 0

  get outcome() {
    return this.#outcome.promise
  }

  end(reason: Error) {
    this.#ended = reason
    this.#outcome.reject(reason)
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller
    if (this.#ended) controller.abort(this.#ended)
    else starting = this
  }

  onResponseStarted() {
    this.#responded = true
  }

  onResponseStart(_: Dispatcher.DispatchController, status_code: number, headers: Record<string, string | string[] | undefined>) {
    this.#status_code = status_code
    this.#headers = flatten(headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.#size > longestBody) return
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size <= longestBody) return
    // The rest is not stored, so the connection is closed.
    this.onResponseEnd()
    controller.abort(new Error('the response is too long'))
  }

  onResponseEnd() {
    this.#outcome.resolve({ status_code: this.#status_code, headers: this.#headers, body: cut(Buffer.concat(this.#chunks)) })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    if (this.#wasStale(error)) this.#outcome.resolve('stale')
    else this.#outcome.reject(error)
  }

  /** The receiver closed a kept-alive connection just when we reused it, and did not respond to this request. */
  #wasStale({ code = '' }: Error & { code?: string }) {
    return this.reused && !this.#responded && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code)
  }
}

/** Joins repeated headers, as HTTP defines. */
function flatten(headers: Record<string, string | string[] | undefined>) {
  const flat: Record<string, string> = Object.create(null)
  for (const name in headers) {
    const value = headers[name] ?? ''
    flat[name] = storable(typeof value === 'string' ? value : value.join(', '))
  }
  return flat
}

/** A response body as it is stored: a truncated one ends with a note. */
export function cut(body: Buffer): string {
  if (body.length <= longestBody) return storable(body.toString())
  return `${storable(body.subarray(0, longestBody).toString())}\n… cut off after ${longestBody / 1024} KB`
}

/** PostgreSQL text cannot contain a zero byte. */
function storable(text: string) {
  return text.replaceAll('\0', '\uFFFD')
}
