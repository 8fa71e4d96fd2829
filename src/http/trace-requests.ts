import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Span, Tracer } from '#platform/tracing/tracer.ts'

/** Supervisors and Prometheus request these all the time. */
const untraced = new Set(['/healthz', '/readyz', '/metrics'])

/** Makes a span of each request. Its name is the route, because an address has names of users and repositories, and tokens of feeds. */
export function traceRequests(listener: FastifyInstance, tracer: Tracer) {
  const spans = new WeakMap<FastifyRequest, Span>()
  listener.addHook('onRequest', (request, _, done) => {
    const { url: route = 'unknown' } = request.routeOptions
    if (untraced.has(route)) return done()
    const span = tracer.begin(request.headers.traceparent, `${request.method} ${route}`, {
      'http.request.method': request.method,
      'http.route': route,
      'belfry.request_id': request.id,
    })
    if (span) spans.set(request, span)
    tracer.within(span, done)
  })
  // The body is read by events of the connection, which belong to no request.
  listener.addHook('preValidation', (request, _, done) => tracer.within(spans.get(request), done))
  listener.addHook('onResponse', (request, { statusCode: status }, done) => {
    const span = spans.get(request)
    span?.set({ 'http.response.status_code': status })
    span?.end(status >= 500)
    done()
  })
}
