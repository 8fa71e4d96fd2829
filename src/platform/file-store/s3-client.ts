import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Agent } from 'undici'
import { codeOf, StorageUnavailable } from '#platform/unavailable.ts'
import type { S3Address, S3Credentials } from './s3-address.ts'

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Below the prefix; undefined for the bucket itself. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer
  /** How often it is sent when the server fails or the connection breaks. */
  attempts?: number
  /** Milliseconds without a byte. */
  patience?: number
  /** Milliseconds for the whole request. */
  longest?: number
  /** A missing key is an answer, and not a failure. */
  may_miss?: boolean
}

export interface S3Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Readable
}

const usualAttempts = 4
const usualPatience = 30_000
/** Milliseconds before the second attempt; twice as long before each further one. */
const firstPause = 100
const connectPatience = 5000
/** An error is a short document, and a list has at most a thousand entries. */
const mostText = 4 << 20

/** Signs requests to one bucket, and repeats those that failed for a reason that may pass. */
export class S3Client {
  readonly #address: S3Address
  readonly #credentials: S3Credentials
  readonly #certificates: string | null
  readonly #onOutcome: (fault: string | undefined) => void
  /** The signing key of each day. */
  readonly #keys = new Map<string, ArrayBuffer>()
  #agent: Promise<Agent> | undefined

  constructor(
    address: S3Address,
    credentials: S3Credentials,
    certificates: string | null,
    onOutcome: (fault: string | undefined) => void,
  ) {
    this.#address = address
    this.#credentials = credentials
    this.#certificates = certificates
    this.#onOutcome = onOutcome
  }

  /** Rejects with `StorageUnavailable`. The caller reads the body of the answer, or destroys it. */
  async send(request: S3Request): Promise<S3Answer> {
    const { attempts = usualAttempts } = request
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(request)
      if (!(answer instanceof StorageUnavailable)) {
        // A missing bucket is answered alike, because answers to HEAD have no code.
        if (request.method !== 'HEAD' || answer.status !== 404) this.#onOutcome(undefined)
        return answer
      }
      if (attempt >= attempts || !answer.may_pass) {
        this.#onOutcome(answer.fault)
        throw answer
      }
      // Clients that failed together must not come back together.
      await sleep(firstPause * 2 ** (attempt - 1) * (0.5 + Math.random()))
    }
  }

  /** The same for a short answer, as text. */
  async sendForText(request: S3Request): Promise<string> {
    return this.readAnswer(await this.send(request))
  }

  async readAnswer({ body }: S3Answer): Promise<string> {
    const text = await readText(body).catch((error) => {
      throw failureOf(error)
    })
    // An operation that takes long begins its answer with 200 before it is done.
    const code = errorIn(text)
    if (code) throw new StorageUnavailable(code, true)
    return text
  }

  /** For an answer without a body. */
  async sendForHeaders(request: S3Request): Promise<S3Answer> {
    const answer = await this.send(request)
    await this.readAnswer(answer)
    return answer
  }

  /** An address that needs no header. It is valid by the clock of the storage, so the time is the machine's. */
  async presign(origin: string, key: string, seconds: number, query: Record<string, string>) {
    const url = new URL(this.pathOf(key), origin)
    url.search = new URLSearchParams({ ...query, 'X-Amz-Expires': String(seconds) }).toString()
    const { url: signed } = await new AwsV4Signer({ ...this.#signing(url, 'GET'), signQuery: true }).sign()
    // Not all servers read a plus sign as a space.
    return signed.href.replaceAll('+', '%20')
  }

  get prefix() {
    return this.#address.prefix
  }

  pathOf(key: string | undefined) {
    const { bucket, prefix } = this.#address
    return key === undefined ? `/${bucket}` : `/${bucket}/${prefix}${key}`
  }

  #signing(url: URL, method: string) {
    const { key: accessKeyId, secret: secretAccessKey } = this.#credentials
    // One day is in use, and for a moment another.
    if (this.#keys.size > 2) this.#keys.clear()
    return { url: url.href, method, accessKeyId, secretAccessKey, service: 's3', region: this.#address.region, cache: this.#keys }
  }

  async #attempt({ method, key, query, headers, body, patience = usualPatience, longest, may_miss }: S3Request) {
    const url = new URL(this.pathOf(key), this.#address.origin)
    if (query) url.search = new URLSearchParams(query).toString().replaceAll('+', '%20')
    const hashed = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const signer = new AwsV4Signer({ ...this.#signing(url, method), headers: { ...headers, 'X-Amz-Content-Sha256': hashed } })
    const signed = await signer.sign()
    try {
      const answer = await (await this.#open()).request({
        ...{ origin: url.origin, path: url.pathname + url.search, method },
        ...{ headers: Object.fromEntries(signed.headers), headersTimeout: patience, bodyTimeout: patience },
        ...(longest !== undefined && { signal: AbortSignal.timeout(longest) }),
        ...((body || method === 'PUT' || method === 'POST') && { body: body ?? Buffer.alloc(0) }),
      })
      const { statusCode: status } = answer
      if (status < 300) return { status, headers: answer.headers, body: answer.body }
      const code = errorIn(await readText(answer.body)) ?? `status ${status}`
      if (may_miss && status === 404 && (method === 'HEAD' || code === 'NoSuchKey' || code === 'NoSuchUpload'))
        return { status, headers: answer.headers, body: Readable.from([]) }
      return new StorageUnavailable(code, status >= 500 || status === 429 || status === 408)
    } catch (error) {
      return failureOf(error)
    }
  }

  /** Loaded with the first request, because it takes 15 MB. */
  #open() {
    this.#agent ??= Promise.all([import('undici'), import('#platform/outbound/agent.ts')]).then(([{ Agent }, { trusting }]) => {
      const tls = this.#address.origin.startsWith('https:') ? { secureContext: trusting(this.#certificates) } : {}
      return new Agent({ connect: { ...tls, timeout: connectPatience }, allowH2: false, connections: 64 })
    })
    return this.#agent
  }

  async close() {
    await (await this.#agent)?.destroy()
  }
}

/** A connection that broke or that could not be made. */
export const failureOf = (error: unknown) =>
  error instanceof StorageUnavailable
    ? error
    : new StorageUnavailable(codeOf(error) ?? (error instanceof Error ? error.message : 'no answer'), true, error)

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > mostText) throw new Error('the answer is too long')
  }
  return Buffer.concat(chunks).toString()
}

const errorIn = (text: string) => (text.includes('<Error>') ? /<Code>(\w+)<\/Code>/.exec(text)?.[1] : undefined)
