import { ImportFailure } from '../source.ts'
import type { Bundle } from './fetching.ts'
import { nullNode } from './nodes.ts'
import { type Cursor, openCursor, type Spool } from './spool.ts'

/** The logs of a repository, one after the other: changesets, manifests, and each file. */
export interface Changegroup {
  spool: Spool
  cursor: Cursor
  version: Bundle['version']
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

/** The revisions of the log that comes next. Their differences are in the spool when they are given. */
export async function* readLog({ spool, cursor, version }: Changegroup): AsyncGenerator<Revision> {
  const size = headers[version]
  let previous: Buffer | undefined
  for (let length = await readLength(cursor); length > 0; length = await readLength(cursor)) {
    if (length < size) throw broken()
    // A copy: what is taken lies in a window that is larger by far.
    const header = Buffer.from(await cursor.take(size))
    const part = (index: number) => header.subarray(index * 20, index * 20 + 20)
    const p1 = part(1)
    const revision: Revision = {
      node: part(0),
      p1,
      p2: part(2),
      base: version === '01' ? (previous ?? p1) : part(3),
      flags: version === '03' ? header.readUInt16BE(100) : 0,
      at: cursor.position,
      length: length - size,
    }
    const end = revision.at + revision.length
    await spool.reached(end)
    yield revision
    cursor.position = end
    previous = revision.node
  }
}

/** After the manifests, there may be one log for each folder. */
export async function refuseFolders({ cursor, version }: Changegroup) {
  if (version !== '03') return
  if ((await readLength(cursor)) > 0) throw new ImportFailure('The repository uses tree manifests, which cannot be imported.')
}

/** The names of the files whose logs follow; the log is to be read before the next name. */
export async function* readNames({ cursor }: Changegroup): AsyncGenerator<string> {
  for (let length = await readLength(cursor); length > 0; length = await readLength(cursor)) {
    if (length > 64 << 10) throw broken()
    yield (await cursor.take(length)).toString('latin1')
  }
}

async function readLength(cursor: Cursor): Promise<number> {
  const length = (await cursor.take(4)).readInt32BE()
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
