import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { failureOf, handleError } from '#http/errors.ts'
import { Moved } from '#http/moved.ts'
import { closingOf, openStream, type Step, streamHeaders } from '#http/stream.ts'
import type { Account } from '#identity/accounts.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { findVisitor } from './page.ts'

/** Milliseconds between two events for pages that reload as a whole. */
export const betweenLooks = 250

type PageLook = (visitor: Account, params: Record<string, string>, from: string | null) => Promise<Step>

/** Notifies the script of a page of changes. Every poll loads the visitor again; `pause` is the minimum time between two polls. */
export function mountPageStream(listener: FastifyInstance, belfry: Belfry, path: string, look: PageLook, pause = 0) {
  const closing = closingOf(listener)
  listener.get(path, { exposeHeadRoute: false }, async (request, reply) => {
    const visitor = await findVisitor(belfry, request)
    if (!visitor) return reply.callNotFound()
    const last = request.headers['last-event-id']
    try {
      const stream = await openStream(belfry, {
        key: `page ${request.url.split('?')[0]} ${hash('sha1', request.headers.cookie ?? '')}`,
        user_id: visitor.id,
        ip: request.ip,
        last: typeof last === 'string' ? last : null,
        look: async (from) => {
          // A visitor who has signed out or was suspended meanwhile gets no more events.
          const present = await findVisitor(belfry, request)
          if (!present) throw missing()
          return look(present, request.params as Record<string, string>, from)
        },
        pause,
        closing,
      })
      return reply.headers(streamHeaders).send(stream)
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof Moved)) throw error
      if (failureOf(error).retry_after === undefined) return reply.callNotFound()
      const { message } = handleError(request, reply, error)
      return reply.type('text/plain; charset=utf-8').send(message)
    }
  })
}
