import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ImportFailure } from '#importer/source.ts'
import { CutOff, readDump } from './dump.ts'
import { type DumpTree, openDumpTree } from './dump-tree.ts'

const magic = 'SVN-fs-dump-format-version: '

/** A dump of `svnadmin dump` or `svnrdump dump`, plain or compressed with gzip or zstd. Undefined if the file is something else. */
export async function openDumpStream(path: string): Promise<Readable | undefined> {
  const start = await readStart(path)
  const decompress =
    start.readUInt16BE(0) === 0x1f8b ? createGunzip() : start.readUInt32LE(0) === 0xfd2fb528 ? createZstdDecompress() : undefined
  if (!decompress) return start.toString('latin1').startsWith(magic) ? createReadStream(path) : undefined
  // Errors reach the reader of the stream.
  return pipeline(createReadStream(path), decompress, () => {})
}

async function readStart(path: string): Promise<Buffer> {
  await using file = await open(path)
  const bytes = Buffer.alloc(magic.length)
  await file.read(bytes)
  return bytes
}

/** What a dump says about its repository, and the tree of each revision with checksums. */
export interface DumpFile {
  uuid: string
  head: number
  /** The logins, in the order of their first revision. */
  logins: Set<string>
  tree: DumpTree
}

/** Several steps of a conversion need the same file. */
const scanned = new Map<string, Promise<DumpFile>>()

export async function scanDumpFile(path: string, signal: AbortSignal): Promise<DumpFile> {
  const { size, mtimeMs } = await stat(path)
  const key = `${path} ${size} ${mtimeMs}`
  const known = scanned.get(key)
  if (known) return known
  const scanning = scan(path, signal)
  scanned.clear()
  scanned.set(key, scanning)
  scanning.catch(() => scanned.delete(key))
  return scanning
}

async function scan(path: string, signal: AbortSignal): Promise<DumpFile> {
  const stream = await openDumpStream(path)
  if (!stream) throw new ImportFailure(`${path} is not a Subversion dump.`)
  const dump = readDump(stream)
  const found: DumpFile = { uuid: '', head: 0, logins: new Set(), tree: openDumpTree() }
  try {
    for (let record = await dump.next(); record; record = await dump.next()) {
      signal.throwIfAborted()
      const { headers, properties } = record
      const number = headers.get('Revision-number')
      found.uuid ||= headers.get('UUID') ?? ''
      if (number !== undefined) {
        found.head = Number(number)
        found.tree.begin(found.head)
        if (found.head > 0) found.logins.add(properties?.get('svn:author')?.toString().trim() || '(no author)')
      } else if (headers.has('Node-path')) await found.tree.apply(record, dump)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CutOff) throw new ImportFailure(`The dump ends in the middle of revision ${found.head}. Make it again.`)
    throw error instanceof ImportFailure ? error : damaged(path, error)
  } finally {
    stream.destroy()
  }
  // Dumps of Subversion before 1.1 have no id.
  found.uuid ||= '00000000-0000-0000-0000-000000000000'
  return found
}

function damaged(path: string, error: unknown) {
  return new ImportFailure(`${path} cannot be read: ${error instanceof Error ? error.message : error}.`)
}
