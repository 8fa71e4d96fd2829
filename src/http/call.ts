import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { firstVersion, type Wire } from '#http/serialization.ts'
import { type App, authenticateApp } from '#identity/apps.ts'
import { Authenticator, anonymous, badCredentials, type Caller, readPair } from '#identity/callers.ts'
import { type Application, findClient } from '#identity/clients.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { networkLimits } from '#platform/network.ts'
import { standardRateLimit, type Variant } from '#variants.ts'
import { checkCaller } from './check-caller.ts'
import { etagOf, isFresh } from './conditional.ts'
import { type Dialect, readAccept } from './dialects.ts'
import { type EarlyRepository, loadEarly } from './early-repository.ts'
import type { Endpoint } from './endpoint.ts'
import { branded, fixed, preflight } from './headers.ts'
import { isPlain } from './media.ts'
import { type Allowance, type Budget, leftOf, RateLimiter } from './rate-limit.ts'
import { cacheKeyOf, type ResponseCache } from './response-cache.ts'
import { checkVisible, type PathLoaders } from './route-params.ts'
import { shareRateLimits } from './shared-rate-limits.ts'
import { NotServed } from './unserved.ts'
import { takeVisitor } from './visitor-request.ts'

/** The properties of a request before its endpoint runs. */
export interface Call {
  variant: Variant
  dialect: Dialect
  wire: Wire
  caller: Caller
  /** The IP address of the client. */
  address: string
  /** The calling application, for endpoints with `viewer: 'client'`. */
  application: Application | undefined
  /** The calling app, for endpoints with `viewer: 'app'`. */
  app: App | undefined
  allowance: Allowance | null
  /** The counts of the rate limit that this request is part of. */
  budgets: readonly Budget[]
  early: EarlyRepository | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    call: Call
  }
}

/** Authenticates and authorizes the caller again, because a stream may outlive the caller's access. */
export type Reauthorize = (request: FastifyRequest) => Promise<void>

/** The hooks around every endpoint of a variant: authentication, authorization, rate limit and response headers. */
export function openCalls(
  app: FastifyInstance,
  belfry: Belfry,
  variant: Variant,
  loaders: PathLoaders,
  responses: ResponseCache,
): Reauthorize {
  const limiter = new RateLimiter(belfry.clock)
  belfry.db.onRewound(() => limiter.clear())
  const limits = limitsOf(belfry, variant)
  if (limits) {
    const endSharing = shareRateLimits(belfry, variant.name, limiter)
    app.addHook('onClose', async () => endSharing())
  }
  const authenticator = new Authenticator(belfry)
  const closed = belfry.settings.BELFRY_SIGN_IN_ONLY === 'on'

  app.decorateRequest('call')

  app.addHook('onRequest', (request, reply, done) => {
    const dialect = readAccept(request.headers.accept)
    const wire = { ...basesOf(belfry, variant), version: firstVersion, brand: dialect.brand }
    request.call = {
      variant,
      dialect,
      wire,
      caller: anonymous,
      address: request.ip,
      application: undefined,
      app: undefined,
      allowance: null,
      budgets: [],
      early: undefined,
    }
    if (request.method === 'OPTIONS') return void reply.headers(preflight).code(204).send()
    const { authorization } = request.headers
    const known = authorization === undefined ? (takeVisitor() ?? anonymous) : peek(authorization, request)
    // A known caller is admitted synchronously: an `await` takes a twentieth of the time of a 304.
    if (!known) open(request, reply).then(() => done(), done)
    else {
      request.call.caller = known
      try {
        begin(request, reply)
        admit(request, reply)
        done()
      } catch (error) {
        refuse(request, error as Error).catch(done)
      }
    }
  })

  /** The steps that admit a caller, in order. */
  async function open(request: FastifyRequest, reply: FastifyReply) {
    begin(request, reply)
    prepare(request)
    await identify(request, request.routeOptions.config.endpoint).catch((error) => {
      charge(request, reply)
      throw error
    })
    admit(request, reply)
  }

  function peek(authorization: string, { routeOptions, raw }: FastifyRequest) {
    const viewer = routeOptions.config.endpoint?.viewer
    return viewer === 'client' || viewer === 'app' ? undefined : authenticator.peek(authorization, raw.socket)
  }

  /**
   * If the caller is who it was last time, one round trip finds out whether the caller has changed and what the request needs: whether a
   * polled response has changed, or the repository.
   */
  function prepare(request: FastifyRequest) {
    const { endpoint } = request.routeOptions.config
    const likely = endpoint && authenticator.likelyCaller(request.headers.authorization ?? '', request.raw.socket)
    if (!likely) return
    if (endpoint.polled) responses.prepare(cacheKeyOf(endpoint, request, likely))
    else request.call.early = loadEarly(loaders, belfry.db, endpoint, likely, request.params as Record<string, string>)
  }

  function begin(request: FastifyRequest, reply: FastifyReply) {
    checkAccept(request)
    selectVersion(request, reply)
  }

  function admit(request: FastifyRequest, reply: FastifyReply) {
    const { endpoint } = request.routeOptions.config
    charge(request, reply)
    if (closed && isAnonymous(request.call) && !endpoint?.takes_code)
      throw new Refusal('unauthenticated', 'Requires authentication')
    endpoint?.checkOpen?.(request.call.variant)
    if (endpoint) checkCaller(endpoint, request.call)
    else if (request.is404) throw new NotServed(request.method)
    // Every other body is JSON: curl sends the type of forms, and some clients send none.
    if (!endpoint?.raw_body) request.headers['content-type'] = 'application/json'
  }

  /** An anonymous caller gets 404 for a hidden record, and 401 only for a visible one. */
  async function refuse({ routeOptions, call, params }: FastifyRequest, error: Error): Promise<never> {
    const { endpoint } = routeOptions.config
    if (endpoint && !closed && endpoint.viewer !== 'site_admin' && error instanceof Refusal && error.reason === 'unauthenticated')
      await checkVisible(loaders, belfry.db, endpoint, call.caller, params as Record<string, string>)
    throw error
  }

  async function identify({ headers, ip, call }: FastifyRequest, endpoint: Endpoint | undefined) {
    const { authorization } = headers
    if (authorization === undefined) return
    if (endpoint?.viewer === 'client') {
      call.application = await identifyClient(belfry.db, authorization, ip)
      return
    }
    if (endpoint?.viewer === 'app') {
      call.app = await authenticateApp(belfry.db, authorization)
      return
    }
    const code = endpoint?.viewer === 'password' ? (headers['x-service-otp'] ?? headers['x-github-otp'])?.toString() : null
    call.caller = await authenticator.authenticate({ authorization, address: ip, code })
  }

  /** Counts the request against the caller's rate limit. */
  function charge(request: FastifyRequest, reply: FastifyReply) {
    if (!limits) return
    const budgets = budgetsOf(request, limits)
    const free = request.routeOptions.config.endpoint?.operation === 'rate-limit/get'
    const taken = !free && limiter.take(budgets)
    const allowance = limiter.look(budgets)
    Object.assign(request.call, { allowance, budgets: taken ? budgets : [] })
    writeAllowance(reply, allowance)
    if (!taken && !free) throw exceeded(request)
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const { budgets } = request.call
    const reads = request.method === 'GET' || request.method === 'HEAD'
    reply.headers(describeAnswer(request))
    reply.header(branded(request.call.dialect.brand, 'Request-Id'), request.id)
    if (reads && reply.statusCode < 400 && !reply.hasHeader('Cache-Control'))
      reply.header('Cache-Control', cacheControl(request.call))
    if (reads && reply.statusCode === 200 && typeof payload === 'string') {
      const etag = (reply.getHeader('ETag') as string | undefined) ?? etagOf(payload)
      reply.header('ETag', etag)
      if (isFresh(request.headers, etag)) {
        reply.code(304).removeHeader('Content-Type').removeHeader('Content-Length')
        payload = null
      }
    }
    // A 304 does not count.
    if (reply.statusCode === 304 && budgets.length) {
      limiter.refund(budgets)
      writeAllowance(reply, limiter.look(budgets))
    }
    done(null, payload)
  })

  return async (request) => {
    const { endpoint } = request.routeOptions.config
    await identify(request, endpoint)
    if (endpoint) checkCaller(endpoint, request.call)
  }
}

const isAnonymous = ({ caller, application, app }: Call) => !caller.user && !application && !app

function budgetsOf({ call, ip }: FastifyRequest, limits: { user: number; anonymous: number }): Budget[] {
  const named = nameOf(call)
  if (named) return [{ key: named, limit: limits.user }]
  return networkLimits(ip, limits.anonymous, 'counted').map(({ network, most }) => ({ key: `address ${network}`, limit: most }))
}

/** Requests with the same name share a rate limit. Each installation of an app has its own. */
function nameOf({ caller: { user, token }, application, app }: Call) {
  if (app) return `app ${app.id}`
  if (application) return `application ${application.id}`
  if (token?.installation_id) return `installation ${token.installation_id}`
  return user && `user ${user.id}`
}

/** The headers of every response to such a request. */
export function describeAnswer({ call: { caller, dialect }, routeOptions }: FastifyRequest): Record<string, string> {
  const { endpoint } = routeOptions.config
  return {
    ...fixed[dialect.brand],
    [branded(dialect.brand, 'Media-Type')]: dialect.media_type,
    ...(caller.token?.client_id && { 'X-OAuth-Client-Id': caller.token.client_id }),
    ...(caller.scopes && { 'X-OAuth-Scopes': caller.scopes.join(', ') }),
    ...(caller.scopes && endpoint && { 'X-Accepted-OAuth-Scopes': acceptedScopes(endpoint) }),
  }
}

function acceptedScopes({ scopes = [], optional_scopes = [] }: Endpoint) {
  return [...scopes, ...optional_scopes].sort().join(', ')
}

export const cacheControl = ({ caller }: Call) => `${caller.user ? 'private' : 'public'}, max-age=60, s-maxage=60`

/** Requests per hour, as the settings say. Null if there is no limit. */
export function limitsOf({ settings }: Belfry, variant: Variant) {
  if (settings.BELFRY_RATE_LIMIT === 'off') return null
  return variant.rate_limit ?? (settings.BELFRY_RATE_LIMIT === 'on' ? standardRateLimit : null)
}

export function basesOf({ addresses }: Belfry, variant: Variant) {
  return { web: addresses.web, api: variant.prefix ? `${addresses.web}${variant.prefix}` : addresses.versioned }
}

function checkAccept({ headers, call, routeOptions }: FastifyRequest) {
  const { followed, streamed, media = [] } = routeOptions.config.endpoint ?? {}
  if (call.dialect.media.has('octets') && media.includes('octets')) return
  if (media.some((medium) => isPlain(medium) && headers.accept?.includes(medium))) return
  // The spec accepts any value, so a client that names another type gets JSON, too. One that asks for a stream would wait for it.
  if (call.dialect.takes_json || !call.dialect.takes_stream || followed || streamed) return
  const message = `Unsupported 'Accept' header: '${headers.accept?.slice(0, 200)}'. Must accept 'application/json'.`
  throw new Refusal('unacceptable', message)
}

function selectVersion({ headers, call }: FastifyRequest, reply: FastifyReply) {
  const { api_versions } = call.variant
  if (!api_versions.length) return
  const asked = headers['x-service-api-version'] ?? headers['x-github-api-version'] ?? firstVersion
  if (typeof asked !== 'string' || !api_versions.includes(asked)) {
    throw new Refusal(
      'malformed',
      `The version you specified is not a supported version. Supported are: ${api_versions.join(', ')}.`,
    )
  }
  call.wire.version = asked
  reply.header(branded(call.dialect.brand, 'Api-Version-Selected'), asked)
}

function writeAllowance(reply: FastifyReply, allowance: Allowance) {
  const { limit, used, reset } = allowance
  reply.header('X-RateLimit-Limit', limit)
  reply.header('X-RateLimit-Remaining', leftOf(allowance))
  reply.header('X-RateLimit-Used', Math.min(limit, used))
  reply.header('X-RateLimit-Reset', reset)
  reply.header('X-RateLimit-Resource', 'core')
}

function exceeded({ call, ip }: FastifyRequest) {
  return new Refusal('rate_limited', describeExceeded(call.caller.user?.id, ip))
}

export function describeExceeded(user_id: number | undefined, ip: string) {
  if (user_id !== undefined) return `API rate limit exceeded for user ID ${user_id}.`
  const hint =
    "(But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)"
  return `API rate limit exceeded for ${ip}. ${hint}`
}

/** An application authenticates with its id and secret as Basic credentials. */
async function identifyClient(db: Database, authorization: string, address: string) {
  const { name, password } = readPair(/^basic\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? '')
  const application = await findClient(db, { client_id: name, client_secret: password, address })
  if (!application) throw badCredentials()
  return application
}
