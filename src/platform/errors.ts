/** Why a caller is refused. The HTTP edge maps each to a status; nothing below it knows status codes. */
export type Reason =
  | 'unauthenticated'
  | 'bad_credentials'
  | 'forbidden'
  | 'rate_limited'
  | 'missing'
  | 'not_allowed'
  | 'gone'
  | 'malformed'
  | 'conflict'
  | 'invalid'
  | 'unacceptable'
  | 'too_large'
  | 'too_many_streams'
  | 'unavailable'

/** One entry of a 422's `errors`, with the codes clients know. */
export interface Fault {
  resource: string
  code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'unprocessable' | 'custom' | 'too_large'
  field?: string
  message?: string
}

/** A refusal to a caller: expected, explained, and never logged as our fault. */
export class Refusal extends Error {
  readonly reason: Reason
  readonly faults: Fault[] | undefined
  /** Seconds after which trying again makes sense. */
  readonly retry_after: number | undefined

  constructor(reason: Reason, message: string, faults?: Fault[], retry_after?: number) {
    super(message)
    this.reason = reason
    this.faults = faults
    this.retry_after = retry_after
  }
}

/** Hidden and not there are one answer. */
export const missing = () => new Refusal('missing', 'Not Found')

export const forbidden = (message: string) => new Refusal('forbidden', message)

export const invalid = (...faults: Fault[]) => new Refusal('invalid', 'Validation Failed', faults)

/** What stops a start: printed as one line, without a stack, before exit 1. */
export class StartError extends Error {}
