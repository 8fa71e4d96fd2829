import type { ErrorName } from './errors.ts'

/** What a client sends to the token endpoint, however it sends it. */
export type Parameters = Partial<Record<string, string>>

/** The same, with where it comes from. */
export interface ClientRequest {
  parameters: Parameters
  address: string
}

export interface Issued {
  access_token: string
  scopes: string[]
}

/** An error is an answer, not an exception: what it set right in the database must stay. */
export interface Failed {
  error: ErrorName
  /** How long a device has to wait from now on. */
  interval?: number
}
