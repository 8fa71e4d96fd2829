import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Bytes of a token before it is masked. */
const size = 32

/**
 * A CSRF token for forms, derived from a cookie without revealing it, so that the source of a page is not enough to take over the session.
 * It is masked with random bytes and differs on each page: the length of compressed pages that repeat what a request sent tells nothing about it.
 */
export function csrfOf(cookie: string) {
  const token = createHmac('sha256', cookie).update('form').digest()
  const mask = randomBytes(size)
  return Buffer.concat([mask, combine(mask, token)]).toString('hex')
}

/** Has the form of a CSRF token; its session may have ended. */
export const isCsrfToken = (text: string | null): text is string => text !== null && /^[0-9a-f]{128}$/.test(text)

/** Whether both were derived from the same cookie. */
export function isSameCsrf(given: string | null, expected: string) {
  return isCsrfToken(given) && timingSafeEqual(unmask(given), unmask(expected))
}

function unmask(text: string) {
  const bytes = Buffer.from(text, 'hex')
  return combine(bytes.subarray(0, size), bytes.subarray(size))
}

const combine = (mask: Buffer, token: Buffer) => Buffer.from(token.map((byte, index) => byte ^ (mask[index] ?? 0)))
