import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Belfry } from '#belfry.ts'
import { codeOf } from '#platform/database.ts'
import { withoutSecrets } from '#platform/log.ts'
import { limitBodyTime } from './body-deadlines.ts'
import { errorBody } from './errors.ts'
import { traceRequests } from './trace-requests.ts'
import { watchRequests } from './watch-requests.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks for a page or uses git, for the log. Requests to the API have a caller. */
    visitor_login: string | undefined
  }
}

/**
 * A listener with limits, request ids, logs, and a response to bytes that are not HTTP. The API is below `prefix`.
 */
export function openListener(belfry: Belfry, prefix: string, showUnreadable?: Unreadable): FastifyInstance {
  const patience = belfry.storage.limits.idle
  const app = fastify({
    // Node's own limit for bodies does not ask whether they make progress, so bodies have ours.
    http: { headersTimeout: patience * 1000, connectionsCheckingInterval: Math.min(patience * 250, 5000) },
    rewriteUrl: ({ url = '' }) => servedAs(url, prefix),
    loggerInstance: belfry.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: newRequestId,
    trustProxy: belfry.settings.BELFRY_TRUSTED_PROXIES,
    routerOptions: { maxParamLength: 255 },
    // During a shutdown, requests on open connections are served.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) => refuseUnparsed(error, socket, `${belfry.addresses.web}/docs`),
    frameworkErrors: (_error, request, reply: FastifyReply) => {
      if (showUnreadable?.(request, reply)) return
      void reply
        .code(404)
        .type('application/json; charset=utf-8')
        .send(errorBody(404, 'Not Found', `${belfry.addresses.web}/docs`))
    },
  })
  app.decorateRequest('visitor_login')
  app.addHook('onRequest', (request, reply, done) => {
    // Node keeps the address once it was read, also for when the client has disconnected.
    void request.ip
    if (hasOneHost(request)) return done()
    // Skips all other hooks, because they need properties that are not set yet.
    reply.hijack()
    const body = errorBody(400, 'The request has more than one Host header. Send exactly one.', `${belfry.addresses.web}/docs`)
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    }
    reply.raw.writeHead(400, headers).end(body)
  })
  watchRequests(app)
  limitBodyTime(app, patience, ({ log, raw: { socket } }, reply) => {
    log.info('the client stalled: its connection is closed')
    if (reply.raw.headersSent) socket.destroy()
    else refuseSocket(408, socket, `${belfry.addresses.web}/docs`)
  })
  if (belfry.db.tracer) traceRequests(app, belfry.db.tracer)
  app.addHook('onResponse', (request, reply, done) => {
    if (!belfry.log.isLevelEnabled('info')) return done()
    const { statusCode: status, elapsedTime } = reply
    const ms = Math.round(elapsedTime * 100) / 100
    const user = request.call?.caller.user?.login ?? request.visitor_login
    const line = { method: request.method, url: withoutSecrets(request.originalUrl), status, ms, ip: request.ip }
    request.log.info(user === undefined ? line : { ...line, user }, 'request')
    done()
  })
  return app
}

/** Serves an address that the router cannot parse; undefined to leave it to the listener. */
type Unreadable = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | undefined

/** With two, a proxy and we could each use a different one (RFC 9112, section 3.2). Node keeps the first and drops the rest. */
function hasOneHost({ raw: { rawHeaders } }: FastifyRequest) {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') count++
  }
  return count < 2
}

/**
 * `/repositories/{id}` is served by the routes of `/repos/{owner}/{repo}` with this owner, which no account can have. A second route for
 * each endpoint would take 10 MB. In the same way, `~{id}` stands for the user, organization or team with this id, and `~team{id}` for
 * the organization of a team.
 */
export const byIdOwner = '~'

/** Addresses that other routes serve: by id, and those of stars from when they were called watching. */
const otherForms = [
  [/^\/repositories\/(\d+)(?=[/?]|$)/, `/repos/${byIdOwner}/$1`],
  [/^\/user\/(\d+)(?=[/?]|$)/, '/users/~$1'],
  [/^\/organizations\/(\d+)\/team\/(\d+)(?=[/?]|$)/, '/orgs/~$1/teams/~$2'],
  [/^\/organizations\/(\d+)(?=[/?]|$)/, '/orgs/~$1'],
  [/^\/teams\/(\d+)(?=[/?]|$)/, '/orgs/~team$1/teams/~$1'],
  [/^\/user\/watched(?=[/?]|$)/, '/user/starred'],
  [/^\/users\/([^/?]+)\/watched(?=\?|$)/, '/users/$1/starred'],
  [/^\/repos\/([^/?]+)\/([^/?]+)\/watchers(?=\?|$)/, '/repos/$1/$2/stargazers'],
] as const

/** The id in a name such as `~5` or, with a kind, `~team5`. */
export function readPathId(name: string, kind = ''): number | undefined {
  const digits = name.startsWith(`~${kind}`) ? name.slice(kind.length + 1) : ''
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
}

/** Clients of the self-hosted variant upload to this address instead of `/api/v3`. */
export const uploadPrefix = '/api/uploads'

function servedAs(address: string, prefix: string) {
  const url = prefix && address.startsWith(`${uploadPrefix}/`) ? `${prefix}${address.slice(uploadPrefix.length)}` : address
  if (!url.startsWith(prefix)) return url
  const path = url.slice(prefix.length)
  // Few addresses have such a form, so one test passes all others.
  if (!/^\/(?:repositories|user|organizations|teams)\/\d|\/watche(?:d|rs)(?:[/?]|$)/.test(path)) return url
  const form = otherForms.find(([pattern]) => pattern.test(path))
  return form ? `${prefix}${path.replace(form[0], form[1])}` : url
}

/** Five groups of hexadecimal digits, as clients print them in bug reports; unique across nodes and restarts. */
const boot = randomBytes(6).toString('hex').toUpperCase()
let count = 0
export function newRequestId() {
  const serial = (++count).toString(16).toUpperCase().padStart(8, '0')
  return `${boot.slice(0, 4)}:${boot.slice(4, 8)}:${boot.slice(8)}:${serial.slice(0, -4)}:${serial.slice(-4)}`
}

/** Answers requests that the HTTP parser rejects. */
function refuseUnparsed(error: Error, socket: Socket, documentation_url: string) {
  if (!socket.writable || codeOf(error) === 'ECONNRESET') return void socket.destroy()
  refuseSocket(statuses[codeOf(error) ?? ''] ?? 400, socket, documentation_url)
}

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

const messages: Record<number, string> = {
  400: 'Problems parsing the request',
  408: 'The request took too long to arrive',
  413: 'The request is too large',
  431: 'The address and headers of the request are too large',
}

/** Milliseconds that a client has to read the answer and close the connection. */
const lingering = 1000

function refuseSocket(status: number, socket: Socket, documentation_url: string) {
  setTimeout(() => socket.destroy(), lingering).unref()
  const body = errorBody(status, messages[status] ?? '', documentation_url)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
