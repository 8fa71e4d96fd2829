import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { withSlotsOf } from '#git/slots.ts'
import { CodeRequired } from '#identity/callers.ts'
import { ReadCache } from '#platform/read-cache.ts'
import type { Variant } from '#variants.ts'
import { markStreamed } from './body-deadlines.ts'
import { openCalls } from './call.ts'
import { explainDeletion } from './deletion.ts'
import type { Endpoint, Group } from './endpoint.ts'
import { errorBody, handleError } from './errors.ts'
import { branded } from './headers.ts'
import { parseBody } from './input.ts'
import { Moved } from './moved.ts'
import { describeApi } from './openapi.ts'
import { PollInterval } from './poll-interval.ts'
import type { RenderBodies } from './rendered-bodies.ts'
import { ResponseCache } from './response-cache.ts'
import { fillRest, readRest, routeOf, suffixConstraint } from './rest-params.ts'
import { loadRouteParams, type PathLoaders } from './route-params.ts'
import { serialize } from './serialize.ts'
import { type Resources, serve, serveCached } from './serve.ts'
import { closingOf } from './stream.ts'
import { markUnserved, NotServed } from './unserved.ts'
import { openValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

/** Mounts every endpoint of a variant on a listener, under the variant's prefix. This happens when the listener gets ready, and takes 0.1 s. */
export function mountApi(
  listener: FastifyInstance,
  belfry: Belfry,
  variant: Variant,
  groups: Group[],
  loaders: PathLoaders,
  renderBodies: RenderBodies,
) {
  listener.addConstraintStrategy(suffixConstraint(groups.flatMap(({ endpoints }) => endpoints)))
  void listener.register(
    async (app) => {
      const responses = new ResponseCache(belfry.db)
      const resources: Resources = {
        belfry,
        loaders,
        renderBodies,
        cache: new ReadCache(belfry.db),
        responses,
        poll_interval: new PollInterval(),
        reauthorize: openCalls(app, belfry, variant, loaders, responses),
        closing: closingOf(app),
      }
      compileLazily(app)
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'string' }, async (request: FastifyRequest, text: string) =>
        parseBody(request.routeOptions.config.endpoint ?? {}, text),
      )
      app.setErrorHandler(async (error, request, reply) =>
        sendError(request, reply, await explainDeletion(belfry.db, request, error)),
      )
      // The hooks of calls answer before the body is read. They run for an unknown address because it has a handler here.
      app.setNotFoundHandler(() => {})
      const endpoints = groups.flatMap((group) => group.endpoints)
      for (const endpoint of endpoints) if (!endpoint.raw_body) mount(app, resources, endpoint, variant)
      app.register(async (raw) => {
        markStreamed(raw)
        raw.removeAllContentTypeParsers()
        // The handler reads it.
        raw.addContentTypeParser('*', (_request, _content, done) => done(null))
        for (const endpoint of endpoints) if (endpoint.raw_body) mount(raw, resources, endpoint, variant)
      })
      app.get('/openapi.json', (_, reply) =>
        reply.type('application/json; charset=utf-8').send(JSON.stringify(describeApi(belfry, groups, variant))),
      )
    },
    { prefix: variant.prefix },
  )
}

function mount(app: FastifyInstance, resources: Resources, endpoint: Endpoint, variant: Variant) {
  if (endpoint.served && !endpoint.served(variant)) return
  const { method, path, body, longest_body, answers } = endpoint
  app.route({
    method,
    ...routeOf(path),
    config: { endpoint },
    ...(longest_body && { bodyLimit: longest_body, preParsing: checkBeforeReading(resources, endpoint) }),
    schema: { ...(body && { body }), response: answers },
    ...(body && {
      preValidation: (request, _, done) => {
        request.body ??= {}
        done()
      },
    }),
    handler: (request, reply) =>
      ((endpoint.polled || endpoint.kept) && serveCached(resources, endpoint, request, reply)) ||
      withSlotsOf(resources.belfry.storage.reading, callerOf(request), () => serve(resources, endpoint, request, reply)),
  })
}

/** In bytes. Other endpoints take no larger body. */
const usualBody = 1 << 20

/** A large body is read only if the caller may write to what the path names, because reading and validating it takes seconds. */
const checkBeforeReading =
  ({ belfry, loaders }: Resources, endpoint: Endpoint) =>
  async ({ headers, call, params }: FastifyRequest) => {
    if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > usualBody)
      await loadRouteParams(loaders, belfry.db, endpoint, call.caller, params as Record<string, string>)
  }

const callerOf = ({ ip, call: { caller } }: FastifyRequest) => ({ user_id: caller.user?.id, ip })

function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown) {
  // The rest of a stream is read and dropped, so that the client can reuse the connection.
  if (request.routeOptions.config.endpoint?.raw_body) request.raw.resume()
  if (error instanceof Moved) return sendMoved(request, reply, error)
  const documentation_url = `${request.call.wire.web}/docs`
  if (error instanceof NotServed) markUnserved(reply)
  if (error instanceof CodeRequired) reply.header(branded(request.call.dialect.brand, 'OTP'), `required; ${error.delivery}`)
  const { status, message = 'Server Error', faults } = handleError(request, reply, error)
  return reply.type('application/json; charset=utf-8').send(errorBody(status, message, documentation_url, faults))
}

/** Endpoints of the repository redirect to its id, which no rename changes; others to its present name. */
function sendMoved(request: FastifyRequest, reply: FastifyReply, { to, message }: Moved) {
  const { wire } = request.call
  const params = { ...(request.params as Record<string, string>), owner: to.owner, repo: to.name } as Record<string, string>
  const declared = request.routeOptions.config.endpoint?.path ?? ''
  const rest = to.rest ?? readRest(declared, params['*'] ?? '')
  const path = fillRest(declared, rest.split('/').map(encodeURIComponent).join('/'))
    .replace(/^\/repos\/\{owner\}\/\{repo\}/, `/repositories/${to.id}`)
    .replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const mark = request.url.indexOf('?')
  const url = `${wire.api}${path}${mark < 0 ? '' : request.url.slice(mark)}`
  return reply
    .code(request.method === 'GET' || request.method === 'HEAD' ? 301 : 307)
    .header('Location', url)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ message, url, documentation_url: `${wire.web}/docs` }))
}

/** Compiling at start took most of the start-up time and half of the idle memory. */
function compileLazily(app: FastifyInstance) {
  app.setSerializerCompiler(
    ({ schema }) =>
      (body) =>
        serialize(schema as object, body),
  )
  app.setValidatorCompiler(({ schema }) => openValidator(schema as object) as never)
}
