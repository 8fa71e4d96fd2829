import type { FastifyInstance, FastifyRequest } from 'fastify'
import { beginWork, continueWork, endWork, type Work } from '#platform/loop-watchdog.ts'

/** Tells the watchdog of the event loop which requests are served. */
export function watchRequests(listener: FastifyInstance) {
  const works = new WeakMap<FastifyRequest, Work>()
  const step = (request: FastifyRequest) => {
    const work = works.get(request)
    if (work) continueWork(work)
  }
  listener.addHook('onRequest', (request, _, done) => {
    works.set(request, beginWork(`${request.method} ${request.routeOptions.url ?? 'unknown'}`, request.id))
    done()
  })
  listener.addHook('preHandler', (request, _, done) => {
    step(request)
    done()
  })
  listener.addHook('onSend', (request, _, payload, done) => {
    step(request)
    done(null, payload)
  })
  listener.addHook('onResponse', (request, _, done) => {
    const work = works.get(request)
    if (work) endWork(work)
    done()
  })
}
