import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DumpPlan } from '#platform/dump.ts'
import { syncFolder } from '#platform/durable.ts'
import { StartError } from '#platform/errors.ts'
import { DamagedArchive, readTar, type TarEntry } from '#platform/read-tar.ts'
import { tarEnd, tarHeader, tarPadding } from '#platform/tar.ts'

/** The first entry. */
export interface Manifest {
  format: 1
  belfry: string
  created_at: string
  plan: DumpPlan
}

/** The last entry: an archive without it broke off. */
export interface Completion {
  /** Of the path, the size and the content of every entry before. */
  sha256: string
  repositories: number
  files: number
  /** Ids of repositories whose folder was not there, because they were deleted meanwhile or wait for a job that makes them. */
  without_folder: number[]
}

export const manifestName = 'backup.json'
export const completionName = 'complete.json'

/** Writes one tar archive beside its name first, so that a backup that was interrupted is not taken for one. Only we can read it. */
export class ArchiveWriter implements AsyncDisposable {
  readonly #path: string
  readonly #draft: string
  readonly #file: FileHandle
  readonly #at: Date
  readonly #hash = createHash('sha256')
  #finished = false
  bytes = 0

  static async open(path: string, at: Date) {
    const draft = `${path}.partial`
    const file = await open(draft, 'w', 0o600).catch((error) => {
      throw new StartError(`Cannot write ${draft}: ${error.message}.`)
    })
    return new ArchiveWriter(path, draft, file, at)
  }

  private constructor(path: string, draft: string, file: FileHandle, at: Date) {
    this.#path = path
    this.#draft = draft
    this.#file = file
    this.#at = at
  }

  get sha256() {
    return this.#hash.copy().digest('hex')
  }

  async add(path: string, content: Buffer, mode = 0o600) {
    await this.addStream(path, content.length, [content], mode)
  }

  async addStream(path: string, size: number, chunks: AsyncIterable<Buffer> | Iterable<Buffer>, mode = 0o600) {
    this.#hash.update(`${path} ${size}\n`)
    await this.#write(tarHeader(path, size, this.#at, mode))
    let written = 0
    for await (const chunk of chunks) {
      this.#hash.update(chunk)
      await this.#write(chunk)
      written += chunk.length
    }
    if (written !== size) throw new Error(`${path} has ${written} bytes instead of ${size}`)
    await this.#write(tarPadding(size))
  }

  async #write(chunk: Buffer) {
    for (let from = 0; from < chunk.length; ) from += (await this.#file.write(chunk, from)).bytesWritten
    this.bytes += chunk.length
  }

  async finish() {
    await this.#write(tarEnd)
    await this.#file.sync()
    await this.#file.close()
    await rename(this.#draft, this.#path)
    this.#finished = true
    await syncFolder(dirname(resolve(this.#path)))
  }

  async [Symbol.asyncDispose]() {
    if (this.#finished) return
    await this.#file.close().catch(() => {})
    await rm(this.#draft, { force: true })
  }
}

/** The entries of an archive. `onBytes` gets how many bytes of the file were read. */
export function readArchive(path: string, onBytes: (bytes: number) => void = () => {}): AsyncGenerator<TarEntry, void, void> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 })
  file.on('data', () => onBytes(file.bytesRead))
  return readTar(file)
}

/** Reads a whole archive and checks that it is complete and unchanged. */
export async function checkArchive(
  path: string,
  onBytes?: (bytes: number) => void,
): Promise<{ manifest: Manifest; completion: Completion }> {
  const hash = createHash('sha256')
  let manifest: Manifest | undefined
  let completion: Completion | undefined
  try {
    for await (const { path: name, size, content } of readArchive(path, onBytes)) {
      if (name === completionName) completion = JSON.parse(await textOf(content))
      else hash.update(`${name} ${size}\n`)
      const kept: Buffer[] = []
      for await (const chunk of content) {
        hash.update(chunk)
        if (name === manifestName) kept.push(Buffer.from(chunk))
      }
      if (name === manifestName) manifest = JSON.parse(Buffer.concat(kept).toString())
    }
  } catch (error) {
    if (!(error instanceof DamagedArchive || error instanceof SyntaxError))
      throw new StartError(`Cannot read ${path}: ${(error as Error).message}.`)
    throw new StartError(`${path} is damaged or no backup of Belfry: ${error.message}. Use another backup.`)
  }
  if (!manifest || !completion) throw new StartError(`${path} is no complete backup of Belfry. Use another backup.`)
  if (completion.sha256 !== hash.digest('hex')) throw new StartError(`${path} was changed or is damaged. Use another backup.`)
  if (manifest.format !== 1) throw new StartError(`${path} was made by a newer Belfry (${manifest.belfry}). Use that version.`)
  return { manifest, completion }
}

/** For small entries. */
export async function textOf(content: AsyncIterable<Buffer>) {
  const pieces: Buffer[] = []
  for await (const chunk of content) pieces.push(Buffer.from(chunk))
  return Buffer.concat(pieces).toString()
}
