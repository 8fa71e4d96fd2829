import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { crc32 } from 'node:zlib'
import { hash as argon2, hashRaw, verify } from '@node-rs/argon2'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * A new token: a prefix that scanners recognize, 30 random characters, and a checksum of 6. The checksum is for scanners; we do not check
 * it.
 */
export function newToken(prefix: Prefix) {
  return spell(prefix, randomText(30))
}

type Prefix = 'bfp_' | 'bff_' | 'bfo_' | 'bfd_' | 'bfs_' | 'bfu_' | 'bfr_'

/** A token derived from these bytes, so that it need not be stored. */
export function tokenFrom(prefix: Prefix, bytes: Buffer) {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let body = ''
  for (; body.length < 30; number /= 62n) body += alphabet[Number(number % 62n)]
  return spell(prefix, body)
}

function spell(prefix: Prefix, body: string) {
  return `${prefix}${body}${base62(crc32(body)).padStart(6, '0')}`
}

/** Random letters and digits, all with the same probability. */
export function randomText(length: number) {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte; bytes above it would make some letters more likely.
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  }
  return text
}

function base62(number: number): string {
  const rest = Math.floor(number / 62)
  return (rest ? base62(rest) : '') + alphabet[number % 62]
}

/** A plain digest is safe at rest, because tokens have too much entropy to guess. */
export function digest(token: string) {
  return hash('sha256', token, 'buffer')
}

/** Compares in constant time. */
export function sameSecret(a: string, b: string) {
  return timingSafeEqual(digest(a), digest(b))
}

export function hashPassword(password: string) {
  // The library's defaults are Argon2id with the memory and passes that OWASP recommends.
  return argon2(password)
}

/** Takes the same time without a stored hash, so that callers cannot find out which accounts exist. */
export async function verifyPassword(stored: string | null | undefined, password: string) {
  decoy ??= hashPassword(randomText(20))
  const compared = stored ?? (await decoy)
  if (verifyingChannel.hasSubscribers) verifyingChannel.publish(costOf(compared))
  const right = await verify(compared, password)
  return right && typeof stored === 'string'
}
let decoy: Promise<string> | undefined

/** Tells tests what a comparison costs: its time depends on the machine. */
const verifyingChannel = channel('belfry:password:verifying')

/** The algorithm, memory and passes of a hash, without the salt and the digest. */
const costOf = (stored: string) => stored.split('$').slice(0, -2).join('$')

/** In kibibytes and passes: about 10 ms for a recovery code. A plain digest would not protect its 50 bits for long. */
const slow = { memoryCost: 8192, timeCost: 2, parallelism: 1, outputLen: 32 }

/** Deterministic, so that one computation finds a code among all with the same salt. */
export function slowDigest(fast: Buffer, salt: Buffer) {
  return hashRaw(fast, { ...slow, salt })
}
