import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Agent, Dispatcher } from 'undici'

/** How much of an answer is kept, in bytes. */
const longestBody = 64 * 1024

export interface Exchange {
  status_code: number
  headers: Record<string, string>
  body: string
}

/** There was no answer in time, or we stop and cannot wait for it. */
export class TimedOut extends Error {}

/** Sends a request and reads the answer, within so many milliseconds; throws what went wrong, see failures.ts. */
export async function exchange(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  timeout: number,
  stopping: AbortSignal,
): Promise<Exchange> {
  let trial = new Trial()
  const end = () => trial.end(new TimedOut())
  const timer = setTimeout(end, timeout)
  const forget = whenStopped(stopping, end)
  try {
    for (;;) {
      agent.dispatch(request, trial)
      const outcome = await trial.outcome
      if (outcome !== 'stale') return outcome
      trial = new Trial()
    }
  } finally {
    clearTimeout(timer)
    forget()
  }
}

const ends = new WeakMap<AbortSignal, Set<() => void>>()

/** One listener for all exchanges: to add and remove one for each costs more than a timer. */
function whenStopped(stopping: AbortSignal, end: () => void): () => void {
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
let starting: Trial | undefined

// undici tells whoever sends nothing of the connection, but publishes it in the same turn in which the request starts.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket }
  if (starting) starting.reused = used.has(socket)
  if (starting) used.add(socket)
  starting = undefined
})

/** One way to the receiver and back. */
class Trial implements Dispatcher.DispatchHandler {
  reused = false
  readonly #outcome = Promise.withResolvers<Exchange | 'stale'>()
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #ended: Error | undefined
  #heard = false
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
    this.#heard = true
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
    // What else comes is not for us, and neither is the connection that it comes by.
    this.onResponseEnd()
    controller.abort(new Error('the answer is too long'))
  }

  onResponseEnd() {
    this.#outcome.resolve({ status_code: this.#status_code, headers: this.#headers, body: cut(Buffer.concat(this.#chunks)) })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    if (this.#wasStale(error)) this.#outcome.resolve('stale')
    else this.#outcome.reject(error)
  }

  /** The receiver had closed a connection that was kept alive just when we used it again: it answered nothing of this request. */
  #wasStale({ code = '' }: Error & { code?: string }) {
    return this.reused && !this.#heard && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code)
  }
}

/** Values that came several times are one, as HTTP reads them. */
function flatten(headers: Record<string, string | string[] | undefined>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, storable([value ?? ''].flat().join(', '))]))
}

/** What the database keeps of an answer's body: what is cut off is told. */
export function cut(body: Buffer): string {
  if (body.length <= longestBody) return storable(body.toString())
  return `${storable(body.subarray(0, longestBody).toString())}\n… cut off after ${longestBody / 1024} KB`
}

/** A zero byte is in no text that the database takes. */
function storable(text: string) {
  return text.replaceAll('\0', '\uFFFD')
}
