/** The errors of OAuth with the descriptions of the public documentation. */
const descriptions = {
  incorrect_client_credentials: 'The client_id and/or client_secret passed are incorrect.',
  redirect_uri_mismatch: 'The redirect_uri MUST match the registered callback URL for this application.',
  bad_verification_code: 'The code passed is incorrect or expired.',
  bad_refresh_token: 'The refresh_token is incorrect, expired or used.',
  unsupported_grant_type: 'The grant type is not supported.',
  invalid_request: 'The request is malformed. A code_challenge has 43 characters, and the code_challenge_method S256.',
  server_error: 'The server could not answer. Please try again.',
  access_denied: 'The user has denied your application access.',
  authorization_pending: 'The authorization request is still pending.',
  slow_down: 'Too many requests have been made in the same timeframe.',
  too_many_requests: 'Too many requests came from your network. Wait as long as Retry-After says, then try again.',
  expired_token: 'The device_code has expired.',
  incorrect_device_code: 'The device_code provided is not valid.',
} as const

export type ErrorName = keyof typeof descriptions

export function errorParameters(error: ErrorName, docs: string) {
  return { error, error_description: descriptions[error], error_uri: docs }
}
