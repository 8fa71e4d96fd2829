/** Why a caller is refused. http/errors.ts maps each reason to a status. */
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

/** One entry of a 422's `errors`, with the codes of the public API. */
export interface Fault {
  resource: string
  code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'unprocessable' | 'custom' | 'too_large'
  field?: string
  message?: string
}

/** A refusal to a caller. It is expected, and not logged as an error. */
export class Refusal extends Error {
  readonly reason: Reason
  readonly faults: Fault[] | undefined
  /** Seconds after which a retry makes sense. */
  readonly retry_after: number | undefined

  constructor(reason: Reason, message: string, faults?: Fault[], retry_after?: number) {
    super(message)
    this.reason = reason
    this.faults = faults
    this.retry_after = retry_after
  }
}

/** The server accepts no writes for a while. `why` is what the operator says about it. */
export class ReadOnly extends Refusal {
  readonly why: string

  constructor(why: string, retry_after: number) {
    super('unavailable', `${readOnly} ${why}`, undefined, retry_after)
    this.why = why
  }
}

export const readOnly = 'This server is read-only for maintenance.'

/** Hidden and missing resources get the same response. */
export const missing = () => new Refusal('missing', 'Not Found')

export const forbidden = (message: string) => new Refusal('forbidden', message)

export const invalid = (...faults: Fault[]) => new Refusal('invalid', 'Validation Failed', faults)

/** Stops a start. It is printed as one line without a stack. */
export class StartError extends Error {}
