import type { FastifyError } from 'fastify'
import { codeOf } from '#platform/database.ts'
import { type Fault, type Reason, Refusal } from '#platform/errors.ts'
import { DatabaseUnavailable, retryAfter } from '#platform/unavailable.ts'
import { describeFaults } from './input.ts'

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

/** When a refused caller may try again, in seconds, unless the refusal itself says so. */
const usualRetry: Partial<Record<Reason, number>> = { too_many_streams: 60, unavailable: retryAfter }

export const retryAfterOf = ({ reason, retry_after }: Refusal) => retry_after ?? usualRetry[reason]

/** The documented shape of every error: `errors` only where single fields are at fault, the status as text. */
export function errorBody(status: number, message: string, documentation_url: string, errors?: Fault[]) {
  return JSON.stringify({ message, errors, documentation_url, status: String(status) })
}

/** What a caller is told of an error: their own mistakes by name, ours by no more than that they were ours. */
export function refusalFor(error: unknown, body: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (error instanceof DatabaseUnavailable) return new Refusal('unavailable', error.message)
  const { validation, statusCode } = error as Partial<FastifyError>
  if (validation) return describeFaults(validation, body)
  const known = refusals[codeOf(error) ?? '']
  if (known) return known()
  // Whatever else the HTTP library finds wrong with a request is the request's fault.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Refusal('malformed', 'Problems parsing the request')
  return undefined
}

const refusals: Record<string, () => Refusal> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal('too_large', 'The body is too large.'),
  FST_ERR_BAD_URL: () => new Refusal('missing', 'Not Found'),
  FST_ERR_MAX_PARAM_LENGTH: () => new Refusal('missing', 'Not Found'),
  // A row this request was about to refer to was deleted in the meantime.
  '23503': () => new Refusal('missing', 'Not Found'),
}
