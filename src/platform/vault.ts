import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolderNow, writeSynced } from './durable.ts'
import { StartError } from './errors.ts'

/** Encrypts secrets that must be read again, such as the seeds of one-time codes (AES-256-GCM). */
export class Vault {
  readonly #key: Buffer

  /** The key is a file in the data folder that only we can read. The first start creates it. */
  constructor(data: string) {
    const path = join(data, 'secrets.key')
    if (!existsSync(path)) makeKey(path)
    this.#key = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex')
    if (this.#key.length !== 32)
      throw new StartError(`${path} is damaged: restore it from a backup; what it encrypts is lost without it.`)
  }

  /** `context` names the owner of the secret: a secret moved to another row does not decrypt. */
  seal(text: string, context: string): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context))
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  open(sealed: Buffer, context: string): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, 12)).setAAD(Buffer.from(context))
    decipher.setAuthTag(sealed.subarray(-16))
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
  }

  /** A secret derived from the key and `context`, so that it need not be stored (HMAC-SHA-256). */
  derive(context: string): Buffer {
    return createHmac('sha256', this.#key).update(`derive ${context}`).digest()
  }
}

/** A link, because two nodes that start on one folder at the same time must read the same key. */
function makeKey(path: string) {
  const draft = `${path}.${process.pid}`
  writeSynced(draft, `${randomBytes(32).toString('hex')}\n`, 0o600)
  try {
    linkSync(draft, path)
  } catch {
    // The other node created it first.
  } finally {
    rmSync(draft)
    syncFolderNow(dirname(path))
  }
}
