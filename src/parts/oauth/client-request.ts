import type { ErrorName } from './errors.ts'

/** The parameters of a request to the token endpoint. */
export type Parameters = Partial<Record<string, string>>

export interface ClientRequest {
  parameters: Parameters
  address: string
}

export interface Issued {
  access_token: string
  scopes: string[]
}

/** An error is a result and not an exception, because the transaction must commit. */
export interface Failed {
  error: ErrorName
  /** The new polling interval of a device in seconds. */
  interval?: number
}
