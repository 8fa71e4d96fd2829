import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { eachOf } from '#platform/durable.ts'
import { Refusal } from '#platform/errors.ts'
import type { Logger } from '#platform/log.ts'
import { StorageUnavailable } from '#platform/unavailable.ts'
import { type FileStore, isOid, mostBytes, pathIn, type Range, type SignedUrl, type StoredObject } from './file-store.ts'
import type { Downloads, S3Address, S3Credentials } from './s3-address.ts'
import { failureOf, S3Client } from './s3-client.ts'
import { listKeys, listUploads } from './s3-lists.ts'
import { draftsPrefix, S3Uploads } from './s3-upload.ts'

export interface S3Options {
  downloads: Downloads
  certificates: string | null
  log: Logger
}

/** Long enough for a client that queues many downloads, and short for a link that is passed on. In seconds. */
const signedFor = 600
/** The sweep erases while requests wait, so its requests are sent once and may take so many milliseconds. */
const erasePatience = 5000
const erasedAtOnce = 8
/** Milliseconds for which an answer to `findFault` is kept: monitoring asks every second. */
const checkEvery = 5000
const checkPatience = 1000
/** How often a download continues where its connection broke, without a byte in between. */
const mostResumes = 3

const folder = 'lfs/'
const keyOf = (oid: string) => folder + pathIn(oid)

/** A store of files in a bucket. Keys are the paths that the files have in the data folder. */
export class S3Store implements FileStore {
  readonly name: string
  readonly folder = undefined
  readonly #client: S3Client
  readonly #uploads: S3Uploads
  /** Undefined if clients do not reach the storage. */
  readonly #public_origin: string | undefined
  #fault: string | undefined
  #checked: Promise<unknown> | undefined

  constructor(address: S3Address, credentials: S3Credentials, { downloads, certificates, log }: S3Options) {
    const { origin, bucket, prefix } = address
    this.name = `${origin}/${bucket}/${prefix}`
    this.#client = new S3Client(address, credentials, certificates, (fault) => this.#note(fault, log))
    this.#uploads = new S3Uploads(this.#client)
    this.#public_origin = downloads === 'streamed' ? undefined : downloads === 'presigned' ? origin : downloads.origin
  }

  /** An outage is logged when it begins and when it ends. */
  #note(fault: string | undefined, log: Logger) {
    if (fault !== undefined && this.#fault === undefined)
      log.error({ storage: this.name, fault }, 'the storage of large files fails: requests for them get 503 until it works again')
    if (fault === undefined && this.#fault !== undefined) log.info('the storage of large files works again')
    this.#fault = fault
  }

  store(oid: string, size: number | null, chunks: AsyncIterable<Buffer>): Promise<StoredObject> {
    const place = (found: StoredObject) => {
      if (size !== null && found.size !== size) throw new Refusal('invalid', `There are ${found.size} bytes instead of ${size}.`)
      if (found.oid !== oid) throw new Refusal('invalid', `The contents are not those of ${oid}: their SHA-256 is ${found.oid}.`)
      return keyOf(oid)
    }
    return this.#uploads.run({ key: keyOf(oid), most: size ?? mostBytes, chunks, place })
  }

  storeContents(chunks: AsyncIterable<Buffer>, most: number): Promise<StoredObject> {
    return this.#uploads.run({ key: undefined, most, chunks, place: ({ oid }) => keyOf(oid) })
  }

  async sizeOf(oid: string): Promise<number | undefined> {
    const key = keyOf(oid)
    const { status, headers } = await this.#client.sendForHeaders({ method: 'HEAD', key, may_miss: true })
    if (status !== 404) return Number(headers['content-length'])
    // Either the object or the bucket is missing. Only a list fails without the bucket.
    for await (const page of listKeys(this.#client, key)) for (const listed of page) if (listed.key === key) return listed.size
    return undefined
  }

  async open(oid: string, range?: Range): Promise<Readable | undefined> {
    const headers = range && { Range: `bytes=${range.start}-${range.end}` }
    const answer = await this.#client.send({ method: 'GET', key: keyOf(oid), ...(headers && { headers }), may_miss: true })
    if (answer.status === 404) return undefined
    const start = range?.start ?? 0
    const end = range?.end ?? Number(answer.headers['content-length']) - 1
    return Readable.from(this.#read(oid, answer.body, { start, end }), { objectMode: false, highWaterMark: 256 * 1024 })
  }

  /** The bytes of a range. If the connection breaks, it goes on with the byte after the last one. */
  async *#read(oid: string, first: Readable, { start, end }: Range) {
    let body = first
    let at = start
    for (let resumes = 0; ; resumes++) {
      try {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          at += chunk.length
          resumes = 0
          yield chunk
        }
        if (at > end) return
        throw new StorageUnavailable('the contents ended early', true)
      } catch (error) {
        if (resumes >= mostResumes) throw failureOf(error)
        await sleep(100 * 2 ** resumes)
        const headers = { Range: `bytes=${at}-${end}` }
        body = (await this.#client.send({ method: 'GET', key: keyOf(oid), headers })).body
      }
    }
  }

  async *list(before?: Date): AsyncGenerator<StoredObject[]> {
    for await (const page of listKeys(this.#client, folder)) {
      const objects = page.flatMap(({ key, size, stored_at }) => {
        const oid = key.split('/').at(-1) ?? ''
        return isOid(oid) && key === keyOf(oid) && (!before || stored_at < before) ? [{ oid, size }] : []
      })
      if (objects.length) yield objects
    }
  }

  async erase(oids: string[], before: Date): Promise<number> {
    const once = { attempts: 1, longest: erasePatience }
    let erased = 0
    await eachOf(oids, erasedAtOnce, async (oid) => {
      const { status, headers } = await this.#client.sendForHeaders({ method: 'HEAD', key: keyOf(oid), may_miss: true, ...once })
      if (status === 404 || !(new Date(String(headers['last-modified'])) < before)) return
      await this.#client.sendForHeaders({ method: 'DELETE', key: keyOf(oid), ...once })
      erased++
    })
    return erased
  }

  async eraseDrafts(before: Date): Promise<number> {
    let erased = 0
    for await (const page of listKeys(this.#client, draftsPrefix)) {
      for (const { key } of page.filter(({ stored_at }) => stored_at < before)) {
        await this.#client.sendForHeaders({ method: 'DELETE', key })
        erased++
      }
    }
    try {
      for await (const page of listUploads(this.#client, folder)) {
        for (const { key, id } of page.filter(({ begun_at }) => begun_at < before)) {
          await this.#client.sendForHeaders({ method: 'DELETE', key, query: { uploadId: id }, may_miss: true })
          erased++
        }
      }
    } catch (error) {
      // Servers without this list delete old uploads by themselves.
      if (!(error instanceof StorageUnavailable && error.fault === 'NotImplemented')) throw error
    }
    return erased
  }

  /** Any user may upload contents, so browsers must not show them. */
  async signedUrl(oid: string, filename?: string): Promise<SignedUrl | undefined> {
    if (this.#public_origin === undefined) return undefined
    const href = await this.#client.presign(this.#public_origin, keyOf(oid), signedFor, {
      'response-content-disposition': filename === undefined ? 'attachment' : `attachment; filename="${filename}"`,
      'response-content-type': 'application/octet-stream',
    })
    return { href, expires_in: signedFor }
  }

  async findFault(): Promise<string | undefined> {
    this.#checked ??= this.#check().finally(() => {
      setTimeout(() => {
        this.#checked = undefined
      }, checkEvery).unref()
    })
    await this.#checked
    return this.#fault
  }

  async #check() {
    const query = { 'list-type': '2', 'max-keys': '1', prefix: this.#client.prefix + folder }
    await this.#client.sendForText({ method: 'GET', query, attempts: 1, longest: checkPatience }).catch(() => {})
  }

  async [Symbol.asyncDispose]() {
    await this.#client.close()
  }
}
