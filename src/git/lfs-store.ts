import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolders, syncFolder } from '#platform/durable.ts'
import { Refusal } from '#platform/errors.ts'
import { codeOf } from '#platform/unavailable.ts'

/** The SHA-256 of the contents, which is their name in LFS. */
export interface StoredObject {
  oid: string
  size: number
}

export interface Range {
  /** Both ends are included. */
  start: number
  end: number
}

/** The largest size that a client may announce. */
export const mostBytes = 5 * 2 ** 30

export const isOid = (oid: string) => /^[0-9a-f]{64}$/.test(oid)

/** The folder of LFS contents below the data folder. */
export const lfsRoot = (data: string) => join(data, 'lfs')

/** 65,536 folders, as in LFS clients. */
export function pathOf(root: string, oid: string) {
  if (!isOid(oid)) throw new Error('an object of the store is named by 64 hexadecimal digits')
  return join(root, oid.slice(0, 2), oid.slice(2, 4), oid)
}

export async function hasObject(root: string, oid: string): Promise<boolean> {
  return (await sizeOf(root, oid)) !== undefined
}

export async function sizeOf(root: string, oid: string): Promise<number | undefined> {
  try {
    return (await stat(pathOf(root, oid))).size
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Stores contents after checking their hash. The file appears complete and synced, or not at all. A null `size` is unknown. */
export async function storeObject(
  root: string,
  oid: string,
  size: number | null,
  chunks: AsyncIterable<Buffer>,
): Promise<StoredObject> {
  const target = pathOf(root, oid)
  return keep(root, size ?? mostBytes, chunks, (found) => {
    if (size !== null && found.size !== size) throw new Refusal('invalid', `There are ${found.size} bytes instead of ${size}.`)
    if (found.oid !== oid) throw new Refusal('invalid', `The contents are not those of ${oid}: their SHA-256 is ${found.oid}.`)
    return target
  })
}

/** Stores contents under the hash that they have. */
export function storeContents(root: string, chunks: AsyncIterable<Buffer>, most = Infinity): Promise<StoredObject> {
  return keep(root, most, chunks, ({ oid }) => pathOf(root, oid))
}

async function keep(root: string, most: number, chunks: AsyncIterable<Buffer>, place: (found: StoredObject) => string) {
  const draft = join(draftsOf(root), randomUUID())
  await makeFolders(draftsOf(root))
  try {
    const found = await writeDraft(draft, most, chunks)
    const target = place(found)
    await makeFolders(dirname(target))
    // The existing file is the same. Its new time protects it from the sweep, see sweep.ts.
    await rename(draft, target)
    await syncFolder(dirname(target))
    return found
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Unfinished uploads. */
export const draftsOf = (root: string) => join(root, 'drafts')

async function writeDraft(path: string, most: number, chunks: AsyncIterable<Buffer>): Promise<StoredObject> {
  const hash = createHash('sha256')
  let size = 0
  await using file = await open(path, 'wx', 0o600)
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > most) throw new Refusal('too_large', `There are more than ${most} bytes.`)
    const written = writeAll(file, chunk)
    hash.update(chunk)
    await written
  }
  await file.sync()
  return { oid: hash.digest('hex'), size }
}

async function writeAll(file: FileHandle, chunk: Buffer) {
  for (let from = 0; from < chunk.length; ) from += (await file.write(chunk, from)).bytesWritten
}

/** The contents or a range of them; undefined if they are missing. */
export async function openObject(root: string, oid: string, range?: Range): Promise<Readable | undefined> {
  try {
    const file = await open(pathOf(root, oid), 'r')
    return file.createReadStream({ ...range, highWaterMark: 256 * 1024 })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
