import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolders, syncFolder } from '#platform/durable.ts'
import { Refusal } from '#platform/errors.ts'

/** What LFS names contents by: their SHA-256. */
export interface StoredObject {
  oid: string
  size: number
}

export interface Range {
  /** The first byte and the last, both of them included. */
  start: number
  end: number
}

/** More than this is no file that anyone keeps in a repository. */
export const mostBytes = 5 * 2 ** 30

export const isOid = (oid: string) => /^[0-9a-f]{64}$/.test(oid)

/** Where contents of large files are, below the data folder. */
export const lfsRoot = (data: string) => join(data, 'lfs')

/** Spread over 65,536 folders, as clients of LFS do it themselves. */
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
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Keeps contents that must be these. It is there whole and on disk when this resolves, or not at all; `size` is unknown where it is null. */
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

/** Keeps contents under the name that they turn out to have. */
export function storeContents(root: string, chunks: AsyncIterable<Buffer>): Promise<StoredObject> {
  return keep(root, Infinity, chunks, ({ oid }) => pathOf(root, oid))
}

async function keep(root: string, most: number, chunks: AsyncIterable<Buffer>, place: (found: StoredObject) => string) {
  const draft = join(draftsOf(root), randomUUID())
  await makeFolders(draftsOf(root))
  try {
    const found = await writeDraft(draft, most, chunks)
    const target = place(found)
    await makeFolders(dirname(target))
    // What is there already is the same, and is as new from now on: see sweep.ts.
    await rename(draft, target)
    await syncFolder(dirname(target))
    return found
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** What is being written. */
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

/** All of it, or a part; undefined when it is not there. */
export async function openObject(root: string, oid: string, range?: Range): Promise<Readable | undefined> {
  try {
    const file = await open(pathOf(root, oid), 'r')
    return file.createReadStream({ ...range, highWaterMark: 256 * 1024 })
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

const isAbsent = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
