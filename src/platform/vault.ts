import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Keys, makeKeys, readKeys, versionOf } from './key-file.ts'

/** Milliseconds for which the file of the keys is not looked at again. */
const span = 1000

/** Encrypts secrets that must be read again, such as the seeds of one-time codes (AES-256-GCM). */
export class Vault {
  /** The file of the keys. */
  readonly path: string
  #keys: Keys
  #version: string | undefined
  #checked_at = performance.now()

  /** The first start creates the key. */
  constructor(data: string) {
    this.path = join(data, 'secrets.key')
    if (!existsSync(this.path)) makeKeys(this.path)
    this.#version = versionOf(this.path)
    this.#keys = readKeys(this.path)
  }

  /** `context` names the owner of the secret: a secret moved to another row does not decrypt. */
  seal(text: string, context: string): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#refreshed.current, nonce).setAAD(Buffer.from(context))
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  open(sealed: Buffer, context: string): string {
    const opened = this.#tryAll(sealed, context)
    if (opened !== undefined) return opened
    // A rotation may have begun within the last second.
    this.reload()
    return this.#tryAll(sealed, context) ?? openWith(this.#keys.current, sealed, context)
  }

  /** Encrypts with the current key what another key encrypted. Undefined if nothing is to do. */
  renew(sealed: Buffer, context: string): Buffer | undefined {
    if (tryWith(this.#refreshed.current, sealed, context) !== undefined) return undefined
    return this.seal(this.open(sealed, context), context)
  }

  /** A secret derived from the key and `context`, so that it need not be stored (HMAC-SHA-256). */
  derive(context: string): Buffer {
    return createHmac('sha256', this.#refreshed.deriving).update(`derive ${context}`).digest()
  }

  /** Reads the keys again, if their file was replaced. */
  reload() {
    this.#checked_at = performance.now()
    const version = versionOf(this.path)
    // A file that is gone cannot be read, and the keys in memory are still right.
    if (version === undefined || version === this.#version) return
    this.#keys = readKeys(this.path)
    this.#version = version
  }

  get #refreshed(): Keys {
    if (performance.now() - this.#checked_at >= span) this.reload()
    return this.#keys
  }

  #tryAll(sealed: Buffer, context: string) {
    const { current, next, former } = this.#refreshed
    for (const key of [current, former, next]) {
      const opened = key && tryWith(key, sealed, context)
      if (typeof opened === 'string') return opened
    }
    return undefined
  }
}

function tryWith(key: Buffer, sealed: Buffer, context: string) {
  try {
    return openWith(key, sealed, context)
  } catch {
    return undefined
  }
}

function openWith(key: Buffer, sealed: Buffer, context: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
}
