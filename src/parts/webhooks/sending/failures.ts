import { codeOf } from '#platform/database.ts'
import { TimedOut } from './exchange.ts'

/** How an exchange without a response is recorded. */
export interface Failure {
  status: string
  status_code: 409 | 413 | 502 | 504
}

const timedOut: Failure = { status: 'timed out', status_code: 504 }
/** For a delivery to `belfry:listen` when no program followed the stream in time. No receiver was slow. */
export const notTaken: Failure = { status: 'no listener took this delivery', status_code: 504 }
export const tooLarge: Failure = { status: 'the payload is larger than 25 MB and was not sent', status_code: 413 }
/** For a delivery that still waited when its webhook was deactivated or paused. No receiver failed. */
export const notSent: Failure = { status: 'the webhook became inactive before this was sent', status_code: 409 }
const unreachable: Failure = { status: 'failed to connect to host', status_code: 502 }

/** How a response is recorded. */
export const responseStatus = (status_code: number) =>
  status_code >= 200 && status_code < 300 ? 'OK' : `Invalid HTTP Response: ${status_code}`

/** Describes an error without addresses, because the hook's creator must not learn about the server's network. */
export function failureOf(error: unknown): Failure {
  const code = codeOf(error) ?? ''
  if (error instanceof TimedOut || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return timedOut
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return broken('the answer has too many headers')
  if ((error as Error).name === 'HTTPParserError' || code.startsWith('HPE_')) return broken('the answer is not HTTP')
  // undici does not accept an upgrade or a 100 as a response.
  if (code === 'UND_ERR_SOCKET' && (error as Error).message.startsWith('bad ')) return broken('the answer is not HTTP')
  if (isCertificate(code)) return broken(`Peer certificate cannot be authenticated: ${shortened((error as Error).message)}`)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return broken('the TLS handshake failed')
  if (connected.includes(code)) return broken('the connection was closed before an answer came')
  return unreachable
}

/** OpenSSL's codes for an untrusted certificate. */
function isCertificate(code: string) {
  return /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/.test(
    code,
  )
}

/** Node appends advice after a semicolon, and a certificate may have very many names. */
function shortened(message: string) {
  return message.replace(/;.*/s, '').slice(0, 200).trimEnd()
}

/** Codes of errors after the connection was made. */
const connected = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']

function broken(status: string): Failure {
  return { status, status_code: 502 }
}
