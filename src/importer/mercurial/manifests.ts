import { ImportFailure } from '#importer/source.ts'
import {
  broken,
  type Changegroup,
  isNull,
  type Reading,
  type Revision,
  readLog,
  refuseFlags,
  refuseFolders,
} from './changegroup.ts'
import { type Chain, openDeltaChain, startNode } from './delta-chain.ts'
import type { Files } from './files.ts'
import { type Differences, differences, differencesOfDelta, findLine, readLines } from './manifest-lines.ts'
import type { Spool } from './spool.ts'

/** Whole texts are in a second file, at offsets from here on. */
const wholesFrom = 2 ** 50

const room = 32 << 20
const most = 64 << 20

export async function readManifests({ changegroup, files, count }: Reading, wholes: Spool, kept: Spool) {
  const chain = openManifests(changegroup, wholes)
  const parents: number[] = []
  const offsets: number[] = []
  const clashing = new Set<number>()
  const add = (revision: Revision) => {
    refuseFlags(revision, 'The list of files')
    const number = chain.add(revision)
    const text = wholeText(chain, number)
    if (!startNode(revision).update(text).digest().equals(revision.node)) throw broken()
    if (chain.isLong(number)) writeWhole(chain, wholes, number, text)
    const parent = chain.find(revision.p1)
    if (parent < 0 && !isNull(revision.p1)) throw broken()
    parents.push(parent)
    const found = compare(changegroup, chain, revision, number, parent, text)
    offsets.push(kept.append(packChanges(found, files)))
    if (hasClash(text, found, files, clashing.has(parent))) clashing.add(number)
    count()
  }
  for await (const revisions of readLog(changegroup)) revisions.forEach(add)
  await refuseFolders(changegroup)
  return {
    find: chain.find,
    text: (number: number) => wholeText(chain, number),
    /** The changes since the first parent, in the format of `packChanges`. */
    parent: (number: number) => parents[number] as number,
    /** Whether a path is both a file and a folder in it. */
    clashes: (number: number) => clashing.has(number),
    changes: (number: number) =>
      kept.read(offsets[number] as number, (offsets[number + 1] ?? kept.size) - (offsets[number] as number)),
  }
}

/** The lists of files, one for each state of the repository. */
export type Manifests = Awaited<ReturnType<typeof readManifests>>

function openManifests({ spool }: Changegroup, wholes: Spool): Chain {
  return openDeltaChain(
    { read: (at, length) => (at < wholesFrom ? spool.read(at, length) : wholes.read(at - wholesFrom, length)) },
    room,
    most,
  )
}

function wholeText(chain: Chain, number: number): Buffer {
  const text = chain.text(number)
  if (!Buffer.isBuffer(text))
    throw new ImportFailure('The repository has more files than can be imported: their list is over 64 MB.')
  return text
}

function writeWhole(chain: Chain, wholes: Spool, number: number, text: Buffer) {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(number)
  head.writeUInt32BE(text.length, 4)
  wholes.append(head)
  // Copied, because the text may be released before it is written.
  chain.shorten(number, wholesFrom + wholes.append(Buffer.from(text)), text.length)
}

function compare(
  { spool }: Changegroup,
  chain: Chain,
  revision: Revision,
  number: number,
  parent: number,
  text: Buffer,
): Differences {
  const before = parent < 0 ? Buffer.alloc(0) : wholeText(chain, parent)
  const quick = chain.base(number) === parent ? differencesOfDelta(before, spool.read(revision.at, revision.length)) : undefined
  return quick ?? differences(before, text)
}

/** Nine bytes per change: the number of the path, the number of the file revision plus 1 or 0, and the flag. */
export function packChanges(found: Differences, files: Files): Buffer {
  const packed = Buffer.allocUnsafe(found.size * 9)
  let at = 0
  for (const [path, rest] of found) {
    const number = files.path(path)
    at = packed.writeUInt32BE(number, at)
    at = packed.writeUInt32BE(rest === '' ? 0 : files.add(number, readNode(rest)) + 1, at)
    at = packed.writeUInt8(rest.length > 40 ? readFlag(rest) : 0, at)
  }
  return packed
}

export function readNode(rest: string): Buffer {
  const node = Buffer.from(rest.slice(0, 40), 'hex')
  if (node.length !== 20) throw broken()
  return node
}

const readFlag = (rest: string) => {
  if (rest[40] === 't') throw new ImportFailure('The repository uses tree manifests, which cannot be imported.')
  if (rest[40] !== 'l' && rest[40] !== 'x') throw broken()
  return rest.charCodeAt(40)
}

function hasClash(text: Buffer, found: Differences, files: Files, inherited: boolean): boolean {
  const names = new Set<string>()
  for (const path of found.keys()) for (const name of files.bothOf(path)) names.add(name)
  if (inherited && names.size > 0) return withoutClashes(text, files) !== text
  return inherited || [...names].some((name) => findLine(text, `${name}\0`) >= 0 && findLine(text, `${name}/`) >= 0)
}

/** A manifest can contain `x` and `x/y`; git keeps only the second. */
export function withoutClashes(text: Buffer, files: Files): Buffer {
  if (!files.haveBoth) return text
  const kept: Buffer[] = []
  let from = 0
  let at = 0
  for (const { path, next } of readLines(text)) {
    if (files.isBoth(path) && findLine(text, `${path}/`) >= 0) {
      kept.push(text.subarray(from, at))
      from = next
    }
    at = next
  }
  return from === 0 ? text : Buffer.concat([...kept, text.subarray(from)])
}

/** For access to single manifests. Uses the whole texts that `readManifests` stored, and checks each text. */
export async function indexManifests(changegroup: Changegroup, wholes: Spool): Promise<(node: Buffer) => Buffer> {
  const chain = openManifests(changegroup, wholes)
  const p1: number[] = []
  const p2: number[] = []
  for await (const revisions of readLog(changegroup)) {
    for (const revision of revisions) {
      chain.add(revision)
      p1.push(chain.find(revision.p1))
      p2.push(chain.find(revision.p2))
    }
  }
  await refuseFolders(changegroup)
  for (let at = 0; at < wholes.size; ) {
    const head = wholes.read(at, 8)
    chain.shorten(head.readUInt32BE(0), wholesFrom + at + 8, head.readUInt32BE(4))
    at += 8 + head.readUInt32BE(4)
  }
  const nodeOf = (number: number) => (number < 0 ? Buffer.alloc(20) : chain.node(number))
  return (node) => {
    if (isNull(node)) return Buffer.alloc(0)
    const number = chain.find(node)
    if (number < 0) throw broken()
    const text = wholeText(chain, number)
    const expected = startNode({ p1: nodeOf(p1[number] as number), p2: nodeOf(p2[number] as number) })
      .update(text)
      .digest()
    if (!expected.equals(node)) throw broken()
    return text
  }
}
