import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolders, syncFolder } from '#platform/durable.ts'
import { Refusal } from '#platform/errors.ts'
import { codeOf } from '#platform/unavailable.ts'
import { type FileStore, isOid, mostBytes, pathIn, type Range, type StoredObject } from './file-store.ts'

/** The folder of LFS contents below the data folder. */
export const lfsRoot = (data: string) => join(data, 'lfs')

export const pathOf = (root: string, oid: string) => join(root, pathIn(oid))

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

/** A store of files in a folder, which is the default. */
export function openFolderStore(root: string): FileStore {
  return {
    name: root,
    folder: root,
    store: (oid, size, chunks) => storeObject(root, oid, size, chunks),
    storeContents: (chunks, most) => storeContents(root, chunks, most),
    sizeOf: (oid) => sizeOf(root, oid),
    open: (oid, range) => openObject(root, oid, range),
    list: (before) => listObjects(root, before),
    erase: (oids, before) => eraseObjects(root, oids, before),
    eraseDrafts: (before) => eraseDrafts(root, before),
    signedUrl: async () => undefined,
    findFault: async () => undefined,
    [Symbol.asyncDispose]: async () => {},
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

/** Objects in one step of a list. */
const batch = 200

async function* listObjects(root: string, before?: Date): AsyncGenerator<StoredObject[]> {
  let objects: StoredObject[] = []
  for (const first of await foldersIn(root)) {
    for (const second of await foldersIn(join(root, first))) {
      for await (const { name } of await opendir(join(root, first, second))) {
        const found = isOid(name) && (await stat(join(root, first, second, name)).catch(() => undefined))
        if (!found || (before && found.mtime >= before)) continue
        objects.push({ oid: name, size: found.size })
        if (objects.length < batch) continue
        yield objects
        objects = []
      }
    }
  }
  if (objects.length) yield objects
}

async function foldersIn(path: string) {
  const found = await readdir(path).catch(() => [])
  return found.filter((name) => /^[0-9a-f]{2}$/.test(name)).sort()
}

async function eraseObjects(root: string, oids: string[], before: Date) {
  let erased = 0
  for (const oid of oids) if (await eraseOlder(pathOf(root, oid), before)) erased++
  return erased
}

async function eraseDrafts(root: string, before: Date) {
  let erased = 0
  for (const name of await readdir(draftsOf(root)).catch(() => []))
    if (await eraseOlder(join(draftsOf(root), name), before)) erased++
  return erased
}

async function eraseOlder(path: string, before: Date) {
  const found = await stat(path).catch(() => undefined)
  if (!found || found.mtime >= before) return false
  await rm(path, { force: true })
  return true
}
