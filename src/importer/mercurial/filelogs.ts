import { createHash } from 'node:crypto'
import { ImportFailure } from '#importer/source.ts'
import type { FastImport } from '#importer/staging/fast-import.ts'
import type { BlobIds } from './blob-ids.ts'
import { broken, type Reading, type Revision, readLog, readNames, refuseCensored, refuseFlags } from './changegroup.ts'
import { openDeltaChain, startNode } from './delta-chain.ts'
import { type Rope, readRope, type Texts } from './deltas.ts'

const room = 16 << 20
const betweenCheckpoints = 512 << 20

/**
 * Writes file texts as blobs; the mark of each is its number plus 1. Those of `given` exist already; `visit` is called for the others.
 * Returns the positions of the texts in the bundle by number.
 */
export async function writeFiles(
  { changegroup, files, count }: Reading,
  given: Uint8Array,
  fastImport: FastImport,
  contents: BlobIds,
  visit: (id: Buffer, size: number) => void,
): Promise<Uint32Array> {
  const { spool } = changegroup
  const positions = new Uint32Array(given.length)
  let ordinal = 0
  let written = 0
  for await (const name of readNames(changegroup)) {
    const chain = openDeltaChain(spool, room)
    for await (const revisions of readLog(changegroup)) {
      for (const revision of revisions) {
        const at = chain.add(revision)
        const position = ordinal++
        const number = files.find(name, revision.node)
        // No changeset contains it.
        if (number < 0) continue
        positions[number] = position
        // After a kill, git may have saved more than the file of ids.
        if (given[number] && contents.has(position)) continue
        if (revision.flags !== 0) refuseFlags(revision, shown(name))
        const text = chain.text(at)
        await fastImport.write(`blob\nmark :${number + 1}\n`)
        const { id, size } = Buffer.isBuffer(text)
          ? await writeText(text, revision, name, fastImport)
          : await writeRope(text, spool, revision, fastImport)
        contents.set(position, id)
        visit(id, size)
        given[number] = 1
        written += size
        if (written < betweenCheckpoints) continue
        contents.flush()
        await fastImport.checkpoint()
        written = 0
      }
    }
    count()
  }
  if (given.includes(0))
    throw new ImportFailure('The server did not send all files of the changesets. Run `hg verify` on the source repository.')
  return positions
}

const shown = (name: string) => Buffer.from(name, 'latin1').toString()

async function writeText(text: Buffer, revision: Revision, name: string, fastImport: FastImport) {
  if (!startNode(revision).update(text).digest().equals(revision.node)) throw refuse(text, name)
  const skip = headLength(text)
  const content = skip > 0 ? text.subarray(skip) : text
  await fastImport.write(`data ${content.length}\n`)
  await fastImport.write(content)
  return { id: startBlob(content.length).update(content).digest(), size: content.length }
}

async function writeRope(rope: Rope, texts: Texts, revision: Revision, fastImport: FastImport) {
  const [start = Buffer.alloc(0)] = readRope(rope, texts)
  const skip = headLength(start)
  const size = rope.size - skip
  const node = startNode(revision).update(start.subarray(0, skip))
  const blob = startBlob(size)
  async function* chunks() {
    for (const chunk of readRope(rope, texts, skip)) {
      node.update(chunk)
      blob.update(chunk)
      yield chunk
    }
  }
  await fastImport.data({ size, chunks: chunks() })
  if (!node.digest().equals(revision.node)) throw broken()
  return { id: blob.digest(), size }
}

const startBlob = (size: number) => createHash('sha1').update(`blob ${size}\0`)

/**
 * The length of the copy metadata before the text, which is enclosed in `\x01\n`. Mercurial adds empty metadata to a text that begins like
 * that.
 */
function headLength(text: Buffer): number {
  if (text[0] !== 1 || text[1] !== 10) return 0
  const end = text.indexOf('\x01\n', 2)
  return end < 0 ? 0 : end + 2
}

function refuse(text: Buffer, name: string): ImportFailure {
  return text.subarray(0, headLength(text)).includes('censored:') ? refuseCensored(shown(name)) : broken()
}
