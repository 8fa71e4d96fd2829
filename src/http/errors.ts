import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { GitMissing } from '#git/errors.ts'
import { codeOf } from '#platform/database.ts'
import { isDiskFull } from '#platform/disk-full.ts'
import { type Fault, type Reason, Refusal } from '#platform/errors.ts'
import { DatabaseUnavailable, StorageUnavailable } from '#platform/unavailable.ts'
import { describeFaults } from './input.ts'
import { Moved } from './moved.ts'

export const statusOf: Record<Reason, number> = {
  malformed: 400,
  unauthenticated: 401,
  bad_credentials: 401,
  forbidden: 403,
  rate_limited: 403,
  missing: 404,
  not_allowed: 405,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unacceptable: 415,
  invalid: 422,
  too_many_streams: 429,
  unavailable: 503,
}

/** Seconds after which a client may try again during an outage. */
export const retryAfter = 5

const usualRetry: Partial<Record<Reason, number>> = { too_many_streams: 60, unavailable: retryAfter }

/** What an error means to the client. */
export interface Failure {
  /** `refusal`: the request cannot be served. `outage`: the same request may succeed later. `bug`: everything unexpected. */
  kind: 'refusal' | 'outage' | 'bug'
  status: number
  /** Nothing about a bug is shown to clients. */
  message: string | undefined
  faults: Fault[] | undefined
  /** Seconds. */
  retry_after: number | undefined
  /** Operators must see it. */
  unexpected: boolean
}

/** Decides for all of Belfry whether an error is a refusal, an outage or a bug. `body` is the body of the request. */
export function failureOf(error: unknown, body?: unknown): Failure {
  const refusal = refusalFor(error, body)
  if (!refusal) {
    return { kind: 'bug', status: 500, message: undefined, faults: undefined, retry_after: undefined, unexpected: true }
  }
  const { reason, message, faults, retry_after = usualRetry[reason] } = refusal
  const kind = reason === 'unavailable' ? 'outage' : 'refusal'
  return { kind, status: statusOf[reason], message, faults, retry_after, unexpected: isUnexpected(error) }
}

/** Logs an unexpected error, and sets the status and `Retry-After` of its answer. The body is up to the caller. */
export function handleError(request: FastifyRequest, reply: FastifyReply, error: unknown): Failure {
  const failure = failureOf(error, request.body)
  if (hasLeft(reply, error)) request.log.info({ reason: (error as Error).message }, 'the client has disconnected')
  else if (failure.unexpected) request.log.error({ err: error }, 'request failed')
  if (failure.retry_after !== undefined) reply.header('Retry-After', failure.retry_after)
  reply.code(failure.status)
  return failure
}

/** Whether the client disconnected before its body was read, or before it got the response: no one gets one. */
function hasLeft({ raw }: FastifyReply, error: unknown) {
  return raw.destroyed && ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(codeOf(error) ?? '')
}

/** The documented shape of every error: `errors` only if single fields are wrong, the status as text. */
export function errorBody(status: number, message: string, documentation_url: string, errors?: Fault[]) {
  return JSON.stringify({ message, errors, documentation_url, status: String(status) })
}

function refusalFor(error: unknown, body: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  // Callers that can redirect do so before they ask here.
  if (error instanceof Moved) return new Refusal('missing', 'Not Found')
  if (error instanceof DatabaseUnavailable || error instanceof StorageUnavailable || error instanceof GitMissing)
    return new Refusal('unavailable', error.message)
  if (isDiskFull(error)) return new Refusal('unavailable', 'The disk of this server is full. Ask an administrator to free space.')
  const { validation, statusCode } = error as Partial<FastifyError>
  if (validation) return describeFaults(validation, body)
  const known = refusals[codeOf(error) ?? '']
  if (known) return known()
  // Every other 4xx error of Fastify is about the request.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Refusal('malformed', 'Problems parsing the request')
  return undefined
}

/** A row that the request was about to refer to does not exist: either it was deleted at the same moment, or we have a bug. */
const foreignKeyViolation = '23503'

const refusals: Record<string, () => Refusal> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal('too_large', 'The body is too large.'),
  FST_ERR_BAD_URL: () => new Refusal('missing', 'Not Found'),
  FST_ERR_MAX_PARAM_LENGTH: () => new Refusal('missing', 'Not Found'),
  [foreignKeyViolation]: () => new Refusal('missing', 'Not Found'),
}

/** The database and the storage log their outages, once. */
const isUnexpected = (error: unknown) => error instanceof GitMissing || isDiskFull(error) || codeOf(error) === foreignKeyViolation
