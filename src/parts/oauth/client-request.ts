import type { ErrorName } from './errors.ts'

/** The parameters of a request to the token endpoint. */
export type Parameters = Partial<Record<string, string>>

export interface ClientRequest {
  parameters: Parameters
  address: string
}

export interface IssuedToken {
  access_token: string
  /** For the token of an app, which expires. In seconds. */
  expires_in?: number
  refresh_token?: string
  refresh_token_expires_in?: number
}

export interface Issued extends IssuedToken {
  scopes: string[]
}

/** An error is a result and not an exception, because the transaction must commit. */
export interface Failed {
  error: ErrorName
  /** The new polling interval of a device in seconds. */
  interval?: number
}
