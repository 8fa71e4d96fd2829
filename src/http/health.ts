import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Belfry } from '#belfry.ts'
import { sql } from '#platform/database.ts'
import { sameSecret } from '#platform/secrets.ts'

/** Alive: the process answers. Ready: it can do its work, too. */
export function mountHealth(app: FastifyInstance, { db }: Belfry, isStopping: () => boolean) {
  app.get('/healthz', (_, reply) => reply.send({ status: 'ok' }))
  app.get('/readyz', async (_, reply) => {
    if (isStopping()) return reply.code(503).send({ status: 'stopping' })
    const reachable = await db.query(sql`select`).then(
      () => true,
      () => false,
    )
    return reachable ? { status: 'ready' } : reply.code(503).send({ status: 'the database is not reachable' })
  })
}

/** What Prometheus reads. One registry for each Belfry, so that several can live in one process. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Histogram<'listener' | 'method' | 'status'>

  constructor({ db }: Belfry) {
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Histogram({
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
  }

  observe(listener: FastifyInstance, name: 'web' | 'versioned') {
    // Finding a counter by its labels takes longer than counting.
    const counters = new Map<string, Histogram.Internal<'listener' | 'method' | 'status'>>()
    listener.addHook('onResponse', (request, reply, done) => {
      const method = methods.has(request.method) ? request.method : 'other'
      const status = `${Math.floor(reply.statusCode / 100)}xx`
      let counter = counters.get(method + status)
      if (!counter) {
        counter = this.#requests.labels({ listener: name, method, status })
        counters.set(method + status, counter)
      }
      counter.observe(reply.elapsedTime / 1000)
      done()
    })
  }

  /** For this machine, or for whoever has the token. */
  mount(app: FastifyInstance, { settings }: Belfry) {
    app.get('/metrics', async (request, reply) => {
      const token = settings.BELFRY_METRICS_TOKEN
      const given = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      const allowed = (token && given !== undefined && sameSecret(given, token)) || isLocal(request)
      if (!allowed)
        return reply
          .code(403)
          .type('text/plain')
          .send('Metrics are for this machine, or for the bearer of BELFRY_METRICS_TOKEN.\n')
      return reply.type(this.#registry.contentType).send(await this.#registry.metrics())
    })
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A proxy on this machine is not this machine's user: its requests come for others. */
function isLocal({ socket, headers, hostname }: FastifyRequest) {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  const forwarded = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) => name in headers)
  const host = hostname.replace(/^\[|\]$/g, '')
  return !forwarded && isLoopback(peer) && (host === 'localhost' || isLoopback(host))
}

function isLoopback(address: string) {
  return isIP(address) === 4 ? address.startsWith('127.') : address === '::1'
}
