import { createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DamagedArchive, readTar } from './read-tar.ts'
import { tarEnd, tarLongHeader, tarPadding, tarTypes } from './tar.ts'
import { codeOf } from './unavailable.ts'

/** Fixed, so that the same files give the same archive. */
const at = new Date(0)

/** A file or folder in a folder. Names are bytes, because git names files after branches, whose names need not be text. */
interface Entry {
  /** Relative to the folder. */
  name: Buffer
  type: typeof tarTypes.file | typeof tarTypes.folder
  mode: number
  /** Of a file's content. */
  size: number
}

/** A folder as a tar archive. Nothing may write into it meanwhile. `omitted` names files at its top. */
export async function* packFolder(folder: string, omitted: string[], signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  for await (const entry of walk(folder, omitted)) {
    signal.throwIfAborted()
    yield headerOf(entry)
    if (!entry.size) continue
    await using file = await open(below(folder, entry.name), 'r')
    let left = entry.size
    for await (const chunk of file.createReadStream({ end: left - 1, highWaterMark: 1 << 18, autoClose: false })) {
      signal.throwIfAborted()
      left -= chunk.length
      yield chunk
    }
    if (left) throw new Error(`${entry.name} became shorter while it was read`)
    yield tarPadding(entry.size)
  }
  yield tarEnd
}

/** The size of the archive that `packFolder` makes. */
export async function packedSize(folder: string, omitted: string[]): Promise<number> {
  let size = tarEnd.length
  for await (const entry of walk(folder, omitted)) size += headerOf(entry).length + entry.size + tarPadding(entry.size).length
  return size
}

const headerOf = ({ name, size, mode, type }: Entry) => tarLongHeader(name, size, mode, type, at)

async function* walk(folder: string, omitted: string[], inside: Buffer = Buffer.alloc(0)): AsyncGenerator<Entry, void, void> {
  const listed = await readdir(below(folder, inside), { withFileTypes: true, encoding: 'buffer' })
  for (const entry of listed.sort((one, other) => Buffer.compare(one.name, other.name))) {
    if (!inside.length && omitted.includes(entry.name.toString())) continue
    const name = inside.length ? below(inside, entry.name) : entry.name
    const isFolder = entry.isDirectory()
    if (!isFolder && !entry.isFile()) throw new Error(`${name} is neither a file nor a folder`)
    const { size, mode } = await lstat(below(folder, name))
    yield { name, type: isFolder ? tarTypes.folder : tarTypes.file, mode: mode & 0o777, size: isFolder ? 0 : size }
    if (isFolder) yield* walk(folder, omitted, name)
  }
}

function below(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), name])
}

/** Errors that the names in an archive cause. */
const causedByNames = ['EEXIST', 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'EINVAL']

/**
 * Writes an archive of `packFolder` into an empty folder. It makes only files and folders and follows no link, so a damaged archive writes
 * nothing elsewhere. Throws `DamagedArchive`.
 */
export async function unpackFolder(chunks: AsyncIterable<Buffer>, folder: string) {
  for await (const { name, type, mode, size, content } of readTar(chunks)) {
    if (!isBelow(name)) throw new DamagedArchive(`a name leads elsewhere: ${name}`)
    const path = below(folder, name)
    try {
      if (type === tarTypes.folder && size === 0) await mkdir(path)
      else if (type === tarTypes.file)
        await pipeline(Readable.from(content, { objectMode: true }), createWriteStream(path, { flags: 'wx' }))
      else throw new DamagedArchive(`neither a file nor a folder: ${name}`)
      await chmod(path, mode & 0o777)
    } catch (error) {
      if (!causedByNames.includes(codeOf(error) ?? '')) throw error
      throw new DamagedArchive(`a file cannot have this name: ${name}`, { cause: error })
    }
  }
}

/** Whether each part is the name of a file, and not the way to another folder. */
const isBelow = (name: Buffer) =>
  name
    .toString('latin1')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'))
