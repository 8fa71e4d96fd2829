import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Belfry } from '#belfry.ts'
import { blockages } from '#platform/loop-watchdog.ts'
import { sameSecret } from '#platform/secrets.ts'
import { retryAfter } from './errors.ts'

/** If an empty query takes more milliseconds, the node is not ready. */
const slow = 1000

/** `/healthz`: the process runs. `/readyz`: it can serve requests. */
export function mountHealth(app: FastifyInstance, { db, files }: Belfry, isStopping: () => boolean) {
  app.get('/healthz', (_, reply) => reply.send({ status: 'ok' }))
  app.get('/readyz', async (_, reply) => {
    if (isStopping()) return reply.code(503).send({ status: 'stopping' })
    const [answers, fault] = await Promise.all([db.answers(slow), files.findFault()])
    // All but large files can be served without the storage, so a balancer must not take the node out.
    if (answers) return fault === undefined ? { status: 'ready' } : { status: 'ready', storage: `not usable: ${fault}` }
    return reply.code(503).header('Retry-After', retryAfter).send({ status: 'the database is not reachable' })
  })
}

/** Of the whole process. They observe it until it ends, so there is one registry of them, made on first use. */
let processMetrics: Registry | undefined

function metricsOfProcess() {
  if (processMetrics) return processMetrics
  processMetrics = new Registry()
  collectDefaultMetrics({ register: processMetrics })
  countBlockages(processMetrics)
  return processMetrics
}

function countBlockages(registry: Registry) {
  const counter = (name: string, help: string, amount: 'count' | 'seconds') =>
    new Counter({
      ...{ name, help, labelNames: ['work'], registers: [registry] },
      collect() {
        this.reset()
        for (const [work, counted] of blockages) this.inc({ work }, counted[amount])
      },
    })
  const help = 'the event loop was blocked for more than 250 ms, by the route or job that most likely did it'
  counter('belfry_event_loop_blocked_total', `How often ${help}.`, 'count')
  counter('belfry_event_loop_blocked_seconds_total', `For how long ${help}.`, 'seconds')
}

/** A gauge whose values are measured when metrics are asked for. */
export interface Measurement {
  name: string
  help: string
  label: string
  /** Values by the label's value. */
  measure: () => Promise<Record<string, number>>
}

/** Prometheus metrics. Each server has its own registry, because tests run several in one process. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #process = metricsOfProcess()
  readonly #durations: Histogram<'listener' | 'method' | 'status'>

  constructor({ db, replica, sent_deliveries }: Belfry, measurements: Measurement[]) {
    db.onRewound(() => this.#registry.resetMetrics())
    this.#durations = new Histogram({
      name: 'belfry_http_request_duration_seconds',
      help: 'Duration of answered requests.',
      labelNames: ['listener', 'method', 'status'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers: [this.#registry],
    })
    new Gauge({
      name: 'belfry_database_connections',
      help: 'Connections of the pool, by what they are doing.',
      labelNames: ['state'],
      registers: [this.#registry],
      collect() {
        this.set({ state: 'busy' }, db.pool.totalCount - db.pool.idleCount)
        this.set({ state: 'idle' }, db.pool.idleCount)
        this.set({ state: 'waited for' }, db.pool.waitingCount)
      },
    })
    if (db.tracer)
      this.#countOutcomes(db.tracer, {
        name: 'belfry_trace_spans_total',
        help: 'Spans of traces by outcome; dropped ones could not be sent to the collector.',
      })
    if (replica)
      this.#countOutcomes(replica, {
        name: 'belfry_replica_reads_total',
        help: 'Reads from the replica by outcome; those that were behind or failed were repeated on the primary.',
      })
    this.#countOutcomes(sent_deliveries, {
      name: 'belfry_webhook_deliveries_total',
      help: 'Webhook deliveries that this process has sent, by outcome; refused ones got a response of 400 or more.',
    })
    for (const measurement of measurements) this.#measure(measurement)
  }

  #countOutcomes(counted: { counts: Record<string, number> }, described: { name: string; help: string }) {
    new Counter({
      ...described,
      labelNames: ['outcome'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(counted.counts)) this.inc({ outcome }, count)
      },
    })
  }

  #measure({ name, help, label, measure }: Measurement) {
    new Gauge({
      ...{ name, help },
      labelNames: [label],
      registers: [this.#registry],
      async collect() {
        // Metrics must work during an outage of the database too.
        const values = await measure().catch(() => ({}))
        this.reset()
        for (const [key, value] of Object.entries(values)) this.set({ [label]: key }, value)
      },
    })
  }

  observe(listener: FastifyInstance, name: 'web' | 'versioned') {
    listener.addHook('onResponse', (request, reply, done) => {
      const method = methods.has(request.method) ? request.method : 'other'
      const status = `${Math.floor(reply.statusCode / 100)}xx`
      this.#durations.observe({ listener: name, method, status }, reply.elapsedTime / 1000)
      done()
    })
  }

  /** If a token is set, requests need it. Otherwise they must come from this machine. */
  mount(app: FastifyInstance, { settings }: Belfry) {
    app.get('/metrics', async (request, reply) => {
      const token = settings.BELFRY_METRICS_TOKEN
      const given = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      const allowed = token ? given !== undefined && sameSecret(given, token) : settings.BELFRY_URL === null && isLocal(request)
      if (!allowed)
        return reply
          .code(403)
          .type('text/plain')
          .send(
            'Metrics are for the bearer of BELFRY_METRICS_TOKEN. Set it, and send "Authorization: Bearer <token>".\n' +
              'Without it they are shown to this machine only, when no proxy stands in front.\n',
          )
      const texts = await Promise.all([this.#process.metrics(), this.#registry.metrics()])
      return reply.type(this.#registry.contentType).send(texts.join(''))
    })
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * A proxy on this machine also connects from loopback, for clients elsewhere. We recognize it by a Host with another host or port, by a
 * forwarding header, or by HTTP/1.0, as nginx with only `proxy_pass` uses. A proxy that does none of this looks like a local client: set
 * BELFRY_URL or a token to refuse it.
 */
function isLocal({ socket, headers, raw }: FastifyRequest) {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  const forwarded = Object.keys(headers).some((name) => /^(x-forwarded-.*|x-real-ip|x-client-ip|forwarded|via)$/.test(name))
  const { hostname = '', port = '' } = URL.parse(`http://${headers.host}`) ?? {}
  const host = hostname.replace(/^\[|\]$/g, '')
  const own = Number(port || 80) === socket.localPort && (host === 'localhost' || isLoopback(host))
  return own && !forwarded && raw.httpVersion !== '1.0' && isLoopback(peer)
}

function isLoopback(address: string) {
  return isIP(address) === 4 ? address.startsWith('127.') : address === '::1'
}
