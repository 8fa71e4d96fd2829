import { createHash } from 'node:crypto'
import type { FastImport } from '../../staging/fast-import.ts'
import { ImportFailure } from '../source.ts'
import { openChain, startNode } from './chain.ts'
import { broken, type Changegroup, type Revision, readLog, readNames, refuseCensored, refuseFlags } from './changegroup.ts'
import type { Contents } from './contents.ts'
import { type Rope, readRope } from './deltas.ts'
import type { Files } from './files.ts'

const room = 16 << 20
const betweenCheckpoints = 512 << 20

/** Writes the files' texts as blobs whose marks are their numbers, from 1 on. Those of `given` are there already. */
export async function writeFiles(
  changegroup: Changegroup,
  files: Files,
  given: Uint8Array,
  fastImport: FastImport,
  contents: Contents,
  count: () => void,
) {
  let ordinal = 0
  let written = 0
  for await (const name of readNames(changegroup)) {
    const chain = openChain(changegroup.spool, room)
    for await (const revision of readLog(changegroup)) {
      const at = chain.add(revision)
      const place = ordinal++
      const number = files.find(name, revision.node)
      // What no manifest names belongs to no changeset. A git that was left alone may have saved more than was noted here.
      if (number < 0 || (given[number] && contents.has(place))) continue
      refuseFlags(revision, Buffer.from(name, 'latin1').toString())
      await fastImport.write(`blob\nmark :${number + 1}\n`)
      const { id, size } = await writeText(changegroup, revision, name, chain.text(at), fastImport)
      contents.set(place, id)
      given[number] = 1
      written += size
      if (written < betweenCheckpoints) continue
      contents.flush()
      await fastImport.checkpoint()
      written = 0
    }
    count()
  }
  if (given.includes(0))
    throw new ImportFailure('The server did not send all files that changesets have. Run `hg verify` where the repository is.')
}

async function writeText(
  changegroup: Changegroup,
  revision: Revision,
  name: string,
  text: Buffer | Rope,
  fastImport: FastImport,
) {
  const node = startNode(revision)
  const skip = headLength(Buffer.isBuffer(text) ? text : readStart(changegroup, text))
  const size = (Buffer.isBuffer(text) ? text.length : text.size) - skip
  const blob = createHash('sha1').update(`blob ${size}\0`)
  if (Buffer.isBuffer(text)) {
    if (!node.update(text).digest().equals(revision.node)) throw refuse(text, name)
    const content = skip > 0 ? text.subarray(skip) : text
    await fastImport.data(content)
    return { id: blob.update(content).digest(), size }
  }
  node.update(readStart(changegroup, text).subarray(0, skip))
  async function* chunks(rope: Rope) {
    for (const chunk of readRope(rope, changegroup.spool, skip)) {
      node.update(chunk)
      blob.update(chunk)
      yield chunk
    }
  }
  await fastImport.data({ size, chunks: chunks(text) })
  if (!node.digest().equals(revision.node)) throw broken()
  return { id: blob.digest(), size }
}

function readStart({ spool }: Changegroup, rope: Rope): Buffer {
  const [first] = readRope(rope, spool)
  return first ?? Buffer.alloc(0)
}

/** Where a file was copied from stands before its text, between two marks of `\x01\n`; so does nothing when the text begins like that. */
function headLength(text: Buffer): number {
  if (text[0] !== 1 || text[1] !== 10) return 0
  const end = text.indexOf('\x01\n', 2)
  return end < 0 ? 0 : end + 2
}

function refuse(text: Buffer, name: string): ImportFailure {
  const known = Buffer.from(name, 'latin1').toString()
  return text.subarray(0, headLength(text)).includes('censored:') ? refuseCensored(known) : broken()
}
