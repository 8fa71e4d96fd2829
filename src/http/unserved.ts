import type { FastifyReply } from 'fastify'
import { Refusal } from '#platform/errors.ts'

const header = 'X-Belfry-Unserved'

/** No endpoint has this address and method. The message is the same for every repository, so that it reveals nothing. */
export class NotServed extends Refusal {
  constructor(method: string) {
    super('missing', `Not Found: Belfry does not serve ${method} at this address. The API reference lists all operations.`)
  }
}

/**
 * Marks a response, so that it differs from that for a missing record. The header is set on Node's response, because Fastify passes its own
 * to `writeHead`, which does not store them for `isUnserved`.
 */
export function markUnserved({ raw }: FastifyReply) {
  raw.setHeader(header, 'true')
}

export const isUnserved = (response: FastifyReply['raw']) => response.hasHeader(header)
