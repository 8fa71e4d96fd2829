import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endWhenIdle } from '#git/idle-clients.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body while it arrives. */
    streamed?: boolean
  }
}

/** Bytes per second: a body that is read before its handler runs has this much time, and the time for stalling besides. */
const slowest = 16 * 1024

type Refuse = (request: FastifyRequest, reply: FastifyReply) => void

/** Passes bodies of this scope on as streams, because they have any size. */
export function streamBodies(scope: FastifyInstance) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_, body, done) => done(null, body))
  markStreamed(scope)
}

/** Routes of this scope read their bodies while they arrive. */
export function markStreamed(scope: FastifyInstance) {
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, streamed: true }
  })
}

/**
 * Ends requests whose bodies arrive too slowly, because a connection and a buffer wait for them. A streamed body may take any time while it
 * makes progress; every other body has a deadline. The rest of a refused body has `seconds` to arrive.
 */
export function limitBodyTime(app: FastifyInstance, seconds: number, refuse: Refuse) {
  app.addHook('onRequest', (request, reply, done) => {
    // A request that the server makes to itself has no connection.
    if (hasBody(request) && request.raw.socket instanceof Socket) watch(request, reply, seconds, refuse)
    done()
  })
}

function watch(request: FastifyRequest, reply: FastifyReply, seconds: number, refuse: Refuse) {
  const { raw, routeOptions } = request
  let timer: NodeJS.Timeout | undefined
  const start = (wait: number) => {
    timer = setTimeout(() => raw.complete || refuse(request, reply), wait * 1000).unref()
  }
  if (routeOptions.config.streamed) endWhenIdle(raw, reply.raw, seconds, () => refuse(request, reply))
  else start(seconds + sizeOf(request) / slowest)
  reply.raw.once('close', () => {
    clearTimeout(timer)
    if (!raw.complete && !raw.socket.destroyed) start(seconds)
  })
}

const hasBody = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** In bytes, as announced; otherwise as many as the route takes. */
const sizeOf = ({ headers, routeOptions: { bodyLimit } }: FastifyRequest) =>
  Math.min(Number(headers['content-length'] ?? bodyLimit), bodyLimit)
