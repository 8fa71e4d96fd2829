import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { ImportFailure } from '#importer/source.ts'
import type { Bundle } from './fetch-bundle.ts'
import type { Files } from './files.ts'
import { nullNode } from './node-table.ts'
import { type Cursor, openCursor, type Spool } from './spool.ts'

/** The revlogs of a repository in order: changesets, manifests, and each file. */
export interface Changegroup {
  spool: Spool
  cursor: Cursor
  version: Bundle['version']
}

/** The parameters of a pass over the logs. `count` is called for each log or revision. */
export interface Reading {
  changegroup: Changegroup
  files: Files
  count(): void
}

/** A revision of a log, as a delta in the spool against another revision. */
export interface Revision {
  node: Buffer
  p1: Buffer
  p2: Buffer
  base: Buffer
  flags: number
  at: number
  length: number
}

const headers = { '01': 80, '02': 100, '03': 102 }

export function openChangegroup({ spool, version }: Pick<Bundle, 'spool' | 'version'>): Changegroup {
  return { spool, version, cursor: openCursor(spool) }
}

/** The largest batch of revisions. */
const maxAtOnce = 64

/** The revisions of the next log, in batches of those that have arrived. Their deltas are in the spool. */
export async function* readLog({ cursor, version }: Changegroup): AsyncGenerator<Revision[]> {
  const size = headers[version]
  let some: Revision[] = []
  let previous: Buffer | undefined
  for (;;) {
    if (some.length > 0 && (some.length === maxAtOnce || !cursor.has(4 + size))) {
      yield some
      some = []
      // Lets more data arrive, and lets an abort take effect.
      await yieldToEventLoop()
    }
    if (!cursor.has(4)) await cursor.await(4)
    const length = readLength(cursor)
    if (length === 0) break
    if (length < size) throw broken()
    if (!cursor.has(length)) {
      if (some.length > 0) yield some
      some = []
      await cursor.await(length)
    }
    const revision = readRevision(cursor, version, length - size, previous)
    some.push(revision)
    previous = revision.node
  }
  if (some.length > 0) yield some
}

function readRevision(cursor: Cursor, version: Bundle['version'], length: number, previous: Buffer | undefined): Revision {
  // Copied, because a slice would keep a much larger buffer alive.
  const header = Buffer.from(cursor.take(headers[version]))
  const part = (index: number) => header.subarray(index * 20, index * 20 + 20)
  const p1 = part(1)
  const at = cursor.position
  cursor.position += length
  return {
    node: part(0),
    p1,
    p2: part(2),
    base: version === '01' ? (previous ?? p1) : part(3),
    flags: version === '03' ? header.readUInt16BE(100) : 0,
    at,
    length,
  }
}

/** After the manifests, tree manifests would have one log per folder. */
export async function refuseFolders({ cursor, version }: Changegroup) {
  if (version !== '03') return
  await cursor.await(4)
  if (readLength(cursor) > 0) throw new ImportFailure('The repository uses tree manifests, which cannot be imported.')
}

/** The names of the files whose logs follow. A log must be read before the next name. */
export async function* readNames({ cursor }: Changegroup): AsyncGenerator<string> {
  for (;;) {
    await cursor.await(4)
    const length = readLength(cursor)
    if (length === 0) return
    if (length > 64 << 10) throw broken()
    await cursor.await(length)
    yield cursor.take(length).toString('latin1')
  }
}

function readLength(cursor: Cursor): number {
  const length = cursor.take(4).readInt32BE()
  if (length !== 0 && length <= 4) throw broken()
  return length === 0 ? 0 : length - 4
}

export function broken(): ImportFailure {
  return new ImportFailure(
    'The data of the server is damaged. Restart the import. If it fails again, run `hg verify` on the source repository.',
  )
}

const censored = 0x8000
const elided = 0x4000
const external = 0x2000

/** Revisions whose stored text does not match their id. */
export function refuseFlags({ flags }: Revision, where: string) {
  if (flags & censored) throw refuseCensored(where)
  if (flags & elided) throw new ImportFailure('The server has only a part of the history, which cannot be imported.')
  if (flags & external) {
    throw new ImportFailure(`${where} is stored outside of the repository by the lfs extension, which cannot be imported.`)
  }
  if (flags & 0x0fff) throw new ImportFailure(`${where} is stored in an unknown way.`)
}

export function refuseCensored(where: string): ImportFailure {
  return new ImportFailure(`${where} has a censored revision without contents, which cannot be imported.`)
}

export function isNull(node: Buffer): boolean {
  return node.equals(nullNode)
}
