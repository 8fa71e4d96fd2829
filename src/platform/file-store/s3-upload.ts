import { createHash, randomUUID } from 'node:crypto'
import { Refusal } from '#platform/errors.ts'
import { StorageUnavailable } from '#platform/unavailable.ts'
import type { StoredObject } from './file-store.ts'
import type { S3Client } from './s3-client.ts'
import { fieldOf } from './s3-lists.ts'

/** The smallest that S3 allows for all parts but the last: 5 GiB have 1,024 of at most 10,000 parts. */
const partSize = 5 << 20
/** Uploads at a time. Each has up to two parts in memory. */
const mostUploads = 64
/** Some servers put the parts together before they answer. In milliseconds. */
const joinPatience = 300_000

export const draftsPrefix = 'lfs/drafts/'

export interface Upload {
  /** The key, if it is known before the contents are. */
  key: string | undefined
  /** The most bytes. */
  most: number
  chunks: AsyncIterable<Buffer>
  /** The key for these contents. Throws if they are not the expected ones. */
  place(found: StoredObject): string
}

/** Uploads contents, so that they appear complete or not at all, with two parts in memory. */
export class S3Uploads {
  readonly #client: S3Client
  #running = 0

  constructor(client: S3Client) {
    this.#client = client
  }

  async run(upload: Upload): Promise<StoredObject> {
    if (this.#running >= mostUploads)
      throw new Refusal('unavailable', 'Too many files are being uploaded at the moment. Try again in a few seconds.')
    this.#running++
    try {
      return await this.#store(upload)
    } finally {
      this.#running--
    }
  }

  async #store({ key: known, most, chunks, place }: Upload): Promise<StoredObject> {
    const hash = createHash('sha256')
    let size = 0
    const found = () => ({ oid: hash.digest('hex'), size })
    await using parts = new Parts(this.#client, known)
    for await (const { part, is_last } of partsOf(chunks)) {
      size += part.length
      if (size > most) throw new Refusal('too_large', `There are more than ${most} bytes.`)
      hash.update(part)
      if (is_last && !parts.begun) {
        const object = found()
        await this.#client.sendForText({ method: 'PUT', key: place(object), body: part })
        return object
      }
      await parts.add(part)
    }
    const object = found()
    await parts.join(place(object), size)
    return object
  }
}

/** Parts of one size; only the last is shorter, and it may be empty if it is the first. */
async function* partsOf(chunks: AsyncIterable<Buffer>) {
  let pieces: Buffer[] = []
  let size = 0
  let any = false
  for await (const chunk of chunks) {
    pieces.push(chunk)
    size += chunk.length
    // More than a part is there, so this one is not the last.
    while (size > partSize) {
      const joined = Buffer.concat(pieces)
      const rest = joined.subarray(partSize)
      pieces = [Buffer.from(rest)]
      size = rest.length
      any = true
      yield { part: joined.subarray(0, partSize), is_last: false }
    }
  }
  if (size || !any) yield { part: Buffer.concat(pieces), is_last: true }
}

/** A multipart upload. It is aborted unless it was joined. */
class Parts implements AsyncDisposable {
  readonly #client: S3Client
  readonly #key: string
  readonly #tags: string[] = []
  readonly #is_draft: boolean
  #id: string | undefined
  /** One part is sent while the next is read. */
  #sending: Promise<void> = Promise.resolve()

  constructor(client: S3Client, key: string | undefined) {
    this.#client = client
    this.#is_draft = key === undefined
    this.#key = key ?? `${draftsPrefix}${randomUUID()}`
  }

  get begun() {
    return this.#id !== undefined
  }

  async add(part: Buffer) {
    await this.#sending
    this.#id ??= await this.#begin()
    const number = this.#tags.push('')
    const query = { partNumber: String(number), uploadId: this.#id }
    this.#sending = this.#client.sendForHeaders({ method: 'PUT', key: this.#key, query, body: part }).then(({ headers }) => {
      this.#tags[number - 1] = String(headers.etag ?? '')
    })
    // A failure is thrown with the next part.
    this.#sending.catch(() => {})
  }

  async #begin() {
    const headers = { 'Content-Type': 'application/octet-stream' }
    const text = await this.#client.sendForText({ method: 'POST', key: this.#key, query: { uploads: '' }, headers })
    const id = fieldOf(text, 'UploadId')
    if (!id) throw new StorageUnavailable('no UploadId', false)
    return id
  }

  async join(target: string, size: number) {
    await this.#sending
    const entries = this.#tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    )
    const body = Buffer.from(`<CompleteMultipartUpload>${entries.join('')}</CompleteMultipartUpload>`)
    const query = { uploadId: this.#id ?? '' }
    const joined = await this.#client.send({
      method: 'POST',
      key: this.#key,
      query,
      body,
      patience: joinPatience,
      may_miss: true,
    })
    await this.#client.readAnswer(joined)
    // The answer to an earlier attempt may have been lost: the upload is gone, and the object is there.
    if (joined.status === 404) await this.#checkThere(size)
    this.#id = undefined
    if (!this.#is_draft) return
    try {
      await this.#copy(target)
    } finally {
      await this.#client.sendForHeaders({ method: 'DELETE', key: this.#key }).catch(() => {})
    }
  }

  async #checkThere(size: number) {
    const { status, headers } = await this.#client.sendForHeaders({ method: 'HEAD', key: this.#key, may_miss: true })
    if (status !== 200 || Number(headers['content-length']) !== size) throw new StorageUnavailable('NoSuchUpload', false)
  }

  /** S3 cannot rename. It copies up to 5 GB in one request. */
  #copy(target: string) {
    const headers = { 'X-Amz-Copy-Source': this.#client.pathOf(this.#key) }
    return this.#client.sendForText({ method: 'PUT', key: target, headers, patience: joinPatience })
  }

  async [Symbol.asyncDispose]() {
    if (this.#id === undefined) return
    await this.#sending.catch(() => {})
    // What cannot be aborted now is aborted by the nightly job.
    const query = { uploadId: this.#id }
    await this.#client.sendForHeaders({ method: 'DELETE', key: this.#key, query, may_miss: true }).catch(() => {})
  }
}

const escaped = (tag: string) => tag.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
