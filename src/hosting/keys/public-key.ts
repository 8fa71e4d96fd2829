import { createHash } from 'node:crypto'

/** What a public key's line says: `ssh-ed25519 AAAA… comment`. */
export interface PublicKey {
  /** Type and blob, without the comment. */
  key: string
  comment: string
  /** As OpenSSH shows it. */
  fingerprint: string
}

/** A field of a key's blob, by what it must hold. */
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
/** Point on a curve: uncompressed, two coordinates. */
const point =
  (size: number): Check =>
  (field) =>
    field.length === 1 + 2 * size && field[0] === 4
/** OpenSSH itself takes no RSA key below this. */
const modulus: Check = (field) => field.length * 8 >= 1024 && field.length * 8 <= 16384 + 8

const curve = (name: string, size: number): Check[] => [exactly(name), point(size)]

/** What follows the type in the blob, for every kind of key that is taken. DSA is not: it has been broken for long. */
const kinds: Record<string, Check[]> = {
  'ssh-ed25519': [bytes(32)],
  'ssh-rsa': [some, modulus],
  'ecdsa-sha2-nistp256': curve('nistp256', 32),
  'ecdsa-sha2-nistp384': curve('nistp384', 48),
  'ecdsa-sha2-nistp521': curve('nistp521', 66),
  'sk-ssh-ed25519@openssh.com': [bytes(32), some],
  'sk-ecdsa-sha2-nistp256@openssh.com': [...curve('nistp256', 32), some],
}

/** Reads a key in OpenSSH's format, or gives undefined for anything else: options before it and private keys too. */
export function readPublicKey(text: string): PublicKey | undefined {
  const [, type = '', encoded = '', comment = ''] =
    /^([\w@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+([^\r\n]*))?$/.exec(text.trim()) ?? []
  const checks = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!checks) return undefined
  const blob = Buffer.from(encoded, 'base64')
  // Whatever else decodes to the same bytes would be a second spelling of one key.
  if (blob.toString('base64') !== encoded) return undefined
  const fields = readFields(blob)
  const whole = [exactly(type), ...checks]
  if (fields?.length !== whole.length || !fields.every((field, index) => whole[index]?.(field))) return undefined
  const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
  return { key: `${type} ${encoded}`, comment: comment.trim(), fingerprint }
}

/** A blob is fields with their length before them, and nothing after the last. */
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
