import { createPublicKey, verify } from 'node:crypto'
import { Refusal } from '#platform/errors.ts'
import { parseJson } from '#platform/json.ts'

/** A parsed token of an app. Nothing of it is trusted before `isSigned`. */
export interface AppJwt {
  /** The id or the client id of the app. */
  issuer: string
  issued_at: number
  expires_at: number
  signed: Buffer
  signature: Buffer
}

/** A token of an app may be valid for ten minutes. Clocks may differ by one. In seconds. */
const longest = 600
const skew = 60

const undecodable = () => new Refusal('bad_credentials', 'A JSON web token could not be decoded')

/** The messages are those of the public API, because clients correct their clock when they see one about a time. */
const wrongTimes = {
  issued: "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
  expired: "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
  far: "'Expiration time' claim ('exp') is too far in the future",
}

export const looksLikeJwt = (text: string) => text.length <= 4096 && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)

/**
 * Only RS256 is accepted: with `none` anyone could write a token, and with HS256 anyone who knows the public key. The header decides nothing
 * else.
 */
export function parseJwt(text: string): AppJwt {
  const [head = '', body = '', signature = ''] = looksLikeJwt(text) ? text.split('.') : []
  const { alg } = readPart(head)
  const { iss, iat, exp } = readPart(body)
  if (alg !== 'RS256') throw undecodable()
  if (typeof iss !== 'string' && !Number.isSafeInteger(iss)) throw undecodable()
  return {
    issuer: String(iss),
    issued_at: readTime(iat, wrongTimes.issued),
    expires_at: readTime(exp, wrongTimes.expired),
    signed: Buffer.from(`${head}.${body}`),
    signature: Buffer.from(signature, 'base64url'),
  }
}

function readPart(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseJson(Buffer.from(text, 'base64url').toString())
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // The same refusal as for a wrong signature.
  }
  throw undecodable()
}

function readTime(value: unknown, message: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refusal('bad_credentials', message)
  return value
}

/** Called after the signature is verified, so that a stranger learns nothing about an app. */
export function checkTimes({ issued_at, expires_at }: AppJwt, at: Date) {
  const now = at.getTime() / 1000
  const wrong =
    (issued_at > now + skew && wrongTimes.issued) ||
    (expires_at <= now - skew && wrongTimes.expired) ||
    (expires_at > now + longest + skew && wrongTimes.far)
  if (wrong) throw new Refusal('bad_credentials', wrong)
}

/** Refuses a token that no key of the app signed. */
export function checkSignature({ signed, signature }: AppJwt, public_keys: readonly string[]) {
  const right = public_keys.some((key) => verify('RSA-SHA256', signed, createPublicKey(key), signature))
  if (!right) throw undecodable()
}
