import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Logger } from '../log.ts'
import { openAgent, trusting } from '../outbound/agent.ts'
import { checkedLookup } from '../outbound/checked-lookup.ts'
import { readPolicy } from '../outbound/policy.ts'
import { type Attributes, type FinishedSpan, kinds } from './finished-span.ts'

export interface ExporterOptions {
  endpoint: URL
  headers: Record<string, string>
  service: string
  version: string
  certificates: string | null
  log: Logger
}

/** Spans that wait. More are dropped: a collector that is away must cost neither memory nor time of requests. */
const mostWaiting = 4096
const mostInBatch = 512
/** Milliseconds. */
const pauseBetween = 1000
const longestPause = 60_000
const timeout = 10_000
const closeTimeout = 2000
/** By the specification of OTLP/HTTP, only these are worth another attempt. */
const retriable = new Set([429, 502, 503, 504])

/** The operator sets the endpoint, so it may be on a private network or on this machine. */
const policy = readPolicy('external, private, loopback')

/** Sends spans as OTLP/HTTP with JSON, one batch at a time. */
export class OtlpExporter {
  readonly #options: ExporterOptions
  readonly #waiting: FinishedSpan[] = []
  readonly #closing = new AbortController()
  #agent: Dispatcher | undefined
  #sending: Promise<void> | undefined
  #sent = 0
  #dropped = 0

  constructor(options: ExporterOptions) {
    this.#options = options
  }

  get counts() {
    return { sent: this.#sent, dropped: this.#dropped }
  }

  add(span: FinishedSpan) {
    if (this.#waiting.length >= mostWaiting || this.#closing.signal.aborted) this.#dropped++
    else this.#waiting.push(span)
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async #sendAll() {
    await this.#pause(pauseBetween)
    while (this.#waiting.length) {
      await this.#sendBatch(this.#waiting.splice(0, mostInBatch))
      await this.#pause(pauseBetween)
    }
  }

  async #pause(milliseconds: number) {
    await sleep(milliseconds, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {})
  }

  /** Repeats a batch while the collector is away, unless Belfry stops. */
  async #sendBatch(batch: FinishedSpan[]) {
    const body = JSON.stringify(encode(batch, this.#options))
    for (let pause = pauseBetween; ; pause = Math.min(pause * 2, longestPause)) {
      const failure = await this.#post(body).catch((error: Error) => ({ reason: error.message, again: true }))
      if (!failure) {
        this.#sent += batch.length
        return
      }
      if (pause === pauseBetween)
        this.#options.log.warn(
          { reason: failure.reason, spans: batch.length },
          'traces could not be sent; see OTEL_EXPORTER_OTLP_ENDPOINT',
        )
      if (!failure.again || this.#closing.signal.aborted) break
      await this.#pause(pause)
    }
    this.#dropped += batch.length
  }

  async #post(body: string): Promise<{ reason: string; again: boolean } | undefined> {
    const { endpoint, headers, certificates } = this.#options
    const trust = () => (endpoint.protocol === 'https:' ? { secureContext: trusting(certificates) } : {})
    this.#agent ??= await openAgent(policy, checkedLookup(policy), trust())
    const answer = await this.#agent.request({
      origin: endpoint.origin,
      path: `${endpoint.pathname.replace(/\/$/, '')}/v1/traces${endpoint.search}`,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeout),
    })
    await answer.body.dump({ limit: 64 * 1024 })
    const { statusCode: status } = answer
    return status >= 200 && status <= 299
      ? undefined
      : { reason: `the collector answered ${status}`, again: retriable.has(status) }
  }

  /** Sends what waits, for a limited time: a collector that is away must not delay a stop. */
  async close() {
    this.#closing.abort()
    const timer = sleep(closeTimeout, undefined, { ref: false })
    await Promise.race([this.#sending, timer])
    await this.#agent?.destroy()
  }
}

function encode(batch: FinishedSpan[], { service, version }: ExporterOptions) {
  const resource = { attributes: encodeAttributes({ 'service.name': service, 'service.version': version }) }
  const spans = batch.map(({ trace_id, span_id, parent_id, name, kind, attributes, start, end, failed }) => ({
    traceId: trace_id,
    spanId: span_id,
    parentSpanId: parent_id,
    name,
    kind: kinds[kind],
    startTimeUnixNano: `${start}`,
    endTimeUnixNano: `${end}`,
    attributes: encodeAttributes(attributes),
    status: failed ? { code: 2 } : {},
  }))
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'belfry', version }, spans }] }] }
}

function encodeAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : { key, value: encodeValue(value) }))
}

function encodeValue(value: string | number | string[]): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(encodeValue) } }
  return typeof value === 'string' ? { stringValue: value } : { intValue: `${Math.round(value)}` }
}
