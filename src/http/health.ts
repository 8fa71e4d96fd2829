import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Belfry } from '#belfry.ts'
import type { Database } from '#platform/database.ts'
import { countJobs } from '#platform/failed-jobs.ts'
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
  return processMetrics
}

/** Prometheus metrics. Each server has its own registry, because tests run several in one process. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #process = metricsOfProcess()
  readonly #durations: Histogram<'listener' | 'method' | 'status'>

  constructor({ db, replica }: Belfry, countRepairs: (db: Database) => Promise<Record<string, number>>) {
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
    this.#countBy('state', countJobs, db, {
      name: 'belfry_jobs',
      help: 'Background jobs by state; failed ones used up their attempts and wait for an operator.',
    })
    this.#countBy('outcome', countRepairs, db, {
      name: 'belfry_ref_repairs',
      help: 'Differences between disk and database found and settled in the last 90 days, by outcome.',
    })
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

  #countBy(label: string, count: (db: Database) => Promise<object>, db: Database, described: { name: string; help: string }) {
    new Gauge({
      ...described,
      labelNames: [label],
      registers: [this.#registry],
      async collect() {
        // Metrics must work during an outage of the database too.
        const counts = await count(db).catch(() => undefined)
        if (!counts) return this.reset()
        for (const [name, value] of Object.entries(counts)) this.set({ [label]: name }, value)
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
