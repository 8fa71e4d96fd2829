import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { Attributes, Kind } from './finished-span.ts'
import type { OtlpExporter } from './otlp-exporter.ts'
import { formatTraceparent, readTraceparent, type SpanContext } from './traceparent.ts'

export class Span {
  readonly #context: SpanContext
  readonly #parent_id: string | undefined
  readonly #name: string
  readonly #kind: Kind
  readonly #attributes: Attributes
  readonly #start = nanoseconds()
  readonly #exporter: OtlpExporter
  #ended = false

  constructor(exporter: OtlpExporter, parent: SpanContext | undefined, name: string, kind: Kind, attributes: Attributes) {
    this.#exporter = exporter
    this.#context = { trace_id: parent?.trace_id ?? randomBytes(16).toString('hex'), span_id: randomBytes(8).toString('hex') }
    this.#parent_id = parent?.span_id
    this.#name = name
    this.#kind = kind
    this.#attributes = { ...attributes }
  }

  get context() {
    return this.#context
  }

  get traceparent() {
    return formatTraceparent(this.#context)
  }

  set(attributes: Attributes) {
    Object.assign(this.#attributes, attributes)
  }

  /** Only the first call counts. */
  end(failed = false) {
    if (this.#ended) return
    this.#ended = true
    const described = { parent_id: this.#parent_id, name: this.#name, kind: this.#kind, attributes: this.#attributes }
    this.#exporter.add({ ...this.#context, ...described, start: this.#start, end: nanoseconds(), failed })
  }

  /** The message of an error may quote what a user wrote, so a span has only its kind. */
  fail(error: unknown) {
    this.set({ 'error.type': error instanceof Error ? error.constructor.name : typeof error })
    this.end(true)
  }
}

/** Wall-clock time with the resolution of the monotonic clock. Spans of several processes are compared, so this is not the injected clock. */
function nanoseconds() {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n
}

/**
 * Makes spans and carries the current one through asynchronous calls. Loaded only when traces are exported; elsewhere, `Database.tracer` is
 * undefined. Between transactions and processes, a trace is carried by columns with the default `current_traceparent()`.
 */
export class Tracer {
  readonly #exporter: OtlpExporter
  readonly #ratio: number
  readonly #current = new AsyncLocalStorage<Span | undefined>()

  constructor(exporter: OtlpExporter, ratio: number) {
    this.#exporter = exporter
    this.#ratio = ratio
  }

  /** The context of the current span; undefined if there is none. */
  get traceparent() {
    return this.#current.getStore()?.traceparent
  }

  /** Spans that were sent and dropped so far. */
  get counts() {
    return this.#exporter.counts
  }

  /** Begins the span of a request, in the trace that its client names. Undefined if the trace is not sampled. */
  begin(header: string | string[] | undefined, name: string, attributes: Attributes): Span | undefined {
    const parent = typeof header === 'string' ? readTraceparent(header) : undefined
    if (parent ? !parent.sampled || !isChosen(parent.trace_id, this.#ratio) : Math.random() >= this.#ratio) return undefined
    return new Span(this.#exporter, parent, name, 'server', attributes)
  }

  /** Runs `work` as a part of the span. */
  within<T>(span: Span | undefined, work: () => T): T {
    return this.#current.run(span, work)
  }

  /** Runs `work` in a new span below the current one; without a current span, only runs it. */
  inSpan<T>(name: string, attributes: Attributes, work: (span?: Span) => Promise<T>): Promise<T> {
    const current = this.#current.getStore()
    return current ? this.#run(new Span(this.#exporter, current.context, name, 'internal', attributes), work) : work()
  }

  /**
   * Continues the trace that was stored with a job, a notice or a delivery; without one, only runs `work`. The current span is the parent if
   * it belongs to the same trace.
   */
  continued<T>(
    stored: string | null | undefined,
    name: string,
    kind: Kind,
    attributes: Attributes,
    work: (span?: Span) => Promise<T>,
  ): Promise<T> {
    const context = readTraceparent(stored ?? '')
    if (!context) return work()
    const current = this.#current.getStore()?.context
    const parent = current?.trace_id === context.trace_id ? current : context
    return this.#run(new Span(this.#exporter, parent, name, kind, attributes), work)
  }

  async #run<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      const result = await this.within(span, () => work(span))
      span.end()
      return result
    } catch (error) {
      span.fail(error)
      throw error
    }
  }

  /** Sends what is left. */
  close() {
    return this.#exporter.close()
  }
}

/** Services with the same ratio choose the same traces. */
function isChosen(trace_id: string, ratio: number) {
  return parseInt(trace_id.slice(-13), 16) < ratio * 2 ** 52
}
