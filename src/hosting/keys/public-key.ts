import { createHash } from 'node:crypto'
import { trimTrailing } from '#platform/trim.ts'

/** A public key line: `ssh-ed25519 AAAA… comment`. */
export interface PublicKey {
  /** Type and blob, without the comment. */
  key: string
  comment: string
  /** In OpenSSH's format. */
  fingerprint: string
}

/** A field of a key's blob, and how it is checked. */
type Check = (field: Buffer) => boolean

const exactly =
  (text: string): Check =>
  (field) =>
    field.toString('latin1') === text
const bytes =
  (length: number): Check =>
  (field) =>
    field.length === length
const some: Check = (field) => field.length > 0
/** An uncompressed point on a curve: two coordinates. */
const point =
  (size: number): Check =>
  (field) =>
    field.length === 1 + 2 * size && field[0] === 4
/** OpenSSH refuses shorter RSA keys. */
const modulus: Check = (field) => field.length * 8 >= 1024 && field.length * 8 <= 16384 + 8

const curve = (name: string, size: number): Check[] => [exactly(name), point(size)]

/** The fields after the type, by type. DSA is refused, because it is broken. */
const kinds: Record<string, Check[]> = {
  'ssh-ed25519': [bytes(32)],
  'ssh-rsa': [some, modulus],
  'ecdsa-sha2-nistp256': curve('nistp256', 32),
  'ecdsa-sha2-nistp384': curve('nistp384', 48),
  'ecdsa-sha2-nistp521': curve('nistp521', 66),
  'sk-ssh-ed25519@openssh.com': [bytes(32), some],
  'sk-ecdsa-sha2-nistp256@openssh.com': [...curve('nistp256', 32), some],
}

/** Parses a key in OpenSSH's format. Returns undefined for anything else, such as options before the key, or a private key. */
export function readPublicKey(text: string): PublicKey | undefined {
  const [, type = '', encoded = '', comment = ''] =
    /^([\w@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]([^\r\n]*))?$/.exec(text.trim()) ?? []
  const checks = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!checks) return undefined
  const blob = Buffer.from(encoded, 'base64')
  // Other base64 that decodes to the same bytes would be a second spelling of the key.
  if (blob.toString('base64') !== encoded) return undefined
  const fields = readFields(blob)
  const whole = [exactly(type), ...checks]
  if (fields?.length !== whole.length || !fields.every((field, index) => whole[index]?.(field))) return undefined
  const fingerprint = `SHA256:${trimTrailing(createHash('sha256').update(blob).digest('base64'), '=')}`
  return { key: `${type} ${encoded}`, comment: comment.trim(), fingerprint }
}

/** A blob is a sequence of fields with length prefixes. */
function readFields(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  let at = 0
  while (at + 4 <= blob.length) {
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) return undefined
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return at === blob.length ? fields : undefined
}
