import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { ImportFailure } from '#importer/source.ts'
import type { Bundle } from './fetch-bundle.ts'
import type { Files } from './files.ts'
import { nullNode } from './node-table.ts'
import { type Cursor, openCursor, type Spool } from './spool.ts'

/** The logs of a repository, one after the other: changesets, manifests, and each file. */
export interface Changegroup {
  spool: Spool
  cursor: Cursor
  version: Bundle['version']
}

/** Whoever goes through the logs: with the files that they are of, and somebody who counts what has been read. */
export interface Reading {
  changegroup: Changegroup
  files: Files
  count(): void
}

/** One revision of a log, as the difference to another one that lies in the spool. */
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

export function openChangegroup({ spool, version }: Bundle): Changegroup {
  return { spool, version, cursor: openCursor(spool) }
}

/** How many revisions are given at once, at most. */
const maxAtOnce = 64

/** The revisions of the log that comes next, as many at once as have come. Their differences are in the spool when they are given. */
export async function* readLog({ cursor, version }: Changegroup): AsyncGenerator<Revision[]> {
  const size = headers[version]
  let some: Revision[] = []
  let previous: Buffer | undefined
  for (;;) {
    if (some.length > 0 && (some.length === maxAtOnce || !cursor.has(4 + size))) {
      yield some
      some = []
      // Meanwhile more has come, or somebody wants an end.
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
  // A copy: what is taken lies in a window that is larger by far.
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

/** After the manifests, there may be one log for each folder. */
export async function refuseFolders({ cursor, version }: Changegroup) {
  if (version !== '03') return
  await cursor.await(4)
  if (readLength(cursor) > 0) throw new ImportFailure('The repository uses tree manifests, which cannot be imported.')
}

/** The names of the files whose logs follow; the log is to be read before the next name. */
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
    'What the server sent is damaged. Start again; if it stays so, run `hg verify` where the repository is.',
  )
}

const censored = 0x8000
const elided = 0x4000
const external = 0x2000

/** Revisions whose text is not what their id was made of. */
export function refuseFlags({ flags }: Revision, where: string) {
  if (flags & censored) throw refuseCensored(where)
  if (flags & elided) throw new ImportFailure('The server has a part of the history only, and that cannot be imported.')
  if (flags & external) {
    throw new ImportFailure(`${where} is kept outside of the repository by the lfs extension, and that cannot be imported.`)
  }
  if (flags & 0x0fff) throw new ImportFailure(`${where} is stored in a way that is not known here.`)
}

export function refuseCensored(where: string): ImportFailure {
  return new ImportFailure(`${where} has a censored revision, which has no contents to import.`)
}

export function isNull(node: Buffer): boolean {
  return node.equals(nullNode)
}
