import type { FastifyReply, FastifyRequest } from 'fastify'
import { etagOf, isFresh } from '#http/conditional.ts'
import type { FeedDocument } from './atom.ts'

/**
 * An event's date is the start of its transaction, so for this long after the newest event, an earlier one can still appear. In milliseconds.
 */
const settling = 60_000

export function sendAtom(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { is_public, until }: { is_public: boolean; until: Date | null },
  { text, updated_at }: FeedDocument & { text: string },
  now: Date,
) {
  const settled = (until ?? now).getTime() - updated_at.getTime() > settling
  // Until then, a date that never gives a 304.
  const modified = new Date(updated_at.getTime() - (settled ? 0 : 1000)).toUTCString()
  const etag = etagOf(text)
  reply.headers({
    ETag: etag,
    'Last-Modified': modified,
    Vary: 'Accept',
    'Cache-Control': is_public ? 'public, max-age=60, s-maxage=60' : 'private, no-cache',
    // URLs of private feeds contain a token.
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'",
  })
  // Exactly the date that was sent: when the newest entry is removed, the date of a feed moves backwards.
  const dated = settled && headers['if-none-match'] === undefined && headers['if-modified-since'] === modified
  if (dated || isFresh(headers, etag)) return reply.code(304).send()
  return reply.type('application/atom+xml; charset=utf-8').send(text)
}
