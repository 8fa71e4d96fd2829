import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { hash as argon2, hashRaw, verify } from '@node-rs/argon2'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * A new token: a prefix that scanners recognise, 30 random characters, and 6 that check them.
 * The check is for people and scanners; we never refuse by it.
 */
export function newToken(prefix: Prefix) {
  return spell(prefix, randomText(30))
}

type Prefix = 'bfp_' | 'bff_' | 'bfo_' | 'bfd_'

/** The token that follows from these bytes: the same every time, and stored nowhere. */
export function tokenFrom(prefix: Prefix, bytes: Buffer) {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let body = ''
  for (; body.length < 30; number /= 62n) body += alphabet[Number(number % 62n)]
  return spell(prefix, body)
}

function spell(prefix: Prefix, body: string) {
  return `${prefix}${body}${base62(crc32(body)).padStart(6, '0')}`
}

/** Letters and digits, each equally likely. */
export function randomText(length: number) {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: what lies above would favour some letters.
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  }
  return text
}

function base62(number: number): string {
  const rest = Math.floor(number / 62)
  return (rest ? base62(rest) : '') + alphabet[number % 62]
}

/** Tokens have more entropy than any guess can reach, so a plain digest keeps them safe at rest. */
export function digest(token: string) {
  return hash('sha256', token, 'buffer')
}

/** Compares without telling by its duration how much was right. */
export function sameSecret(a: string, b: string) {
  return timingSafeEqual(digest(a), digest(b))
}

export function hashPassword(password: string) {
  // The library's defaults are Argon2id with the memory and passes that OWASP asks for.
  return argon2(password)
}

/** With no hash to compare to, it works as long as with one: a caller cannot tell who exists. */
export async function verifyPassword(stored: string | null | undefined, password: string) {
  decoy ??= hashPassword(randomText(20))
  const right = await verify(stored ?? (await decoy), password)
  return right && typeof stored === 'string'
}
let decoy: Promise<string> | undefined

/** Kibibytes and passes: about 10 ms for a recovery code, whose 50 bits would not last long behind a plain digest. */
const slow = { memoryCost: 8192, timeCost: 2, parallelism: 1, outputLen: 32 }

/** The same for the same salt, so that one computation finds a code among those that share it. */
export function slowDigest(fast: Buffer, salt: Buffer) {
  return hashRaw(fast, { ...slow, salt })
}
