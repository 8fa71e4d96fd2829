import { createHash } from 'node:crypto'
import { broken, isNull, type Revision } from './changegroup.ts'
import { applyDelta, emptyRope, foldDelta, type Rope, readRope, release, type Texts } from './deltas.ts'
import { openNodeTable } from './node-table.ts'

/** In bytes. A larger text is not held in memory; it is a rope of pieces of the spool. */
export const maxInMemory = 16 << 20

/** In deltas. A longer chain is shortened by storing a whole text, if the log has a file for that. */
const longestChain = 1000

/** In bytes. Above this, folding deltas is cheaper than copying the text for each of them. */
const maxCopied = 256 << 10

/** `room` is the size of the cache in bytes; `most` is the size of the largest text in memory. */
export function openDeltaChain(texts: Texts, room: number, most = maxInMemory) {
  // Most files have few revisions.
  const nodes = openNodeTable(16)
  const at: number[] = []
  const lengths: number[] = []
  const bases: number[] = []
  const depths: number[] = []
  const shortened = new Set<number>()
  const kept = new Map<number, Buffer | Rope>()
  let used = 0

  function keep<T extends Buffer | Rope>(number: number, text: T): T {
    kept.set(number, text)
    used += costOf(text)
    for (const [oldest, old] of kept) {
      // Callers compare two texts, so both stay.
      if (used <= room || kept.size <= 2) break
      kept.delete(oldest)
      used -= costOf(old)
      if (Buffer.isBuffer(old)) release(old)
    }
    return text
  }

  /** Starts at the nearest cached text, and copies texts while that is cheaper than folding deltas. */
  function make(number: number): Buffer | Rope {
    const steps: number[] = []
    let from = number
    let growth = 0
    for (; from >= 0 && !kept.has(from) && !shortened.has(from); from = bases[from] as number) {
      steps.push(from)
      growth += lengths[from] as number
    }
    const known = from < 0 ? Buffer.alloc(0) : (kept.get(from) ?? readWhole(from))
    if (Buffer.isBuffer(known) && known.length + growth <= most) {
      const text = makeFrom(known, steps.reverse())
      if (!kept.has(from) && text !== known) release(known)
      return text
    }
    const rope = fold(number)
    return rope.size <= most ? Buffer.concat([...readRope(rope, texts)]) : rope
  }

  /** A text that was stored as a whole. */
  function readWhole(number: number): Buffer | undefined {
    const length = lengths[number] as number
    return length <= most ? texts.read(at[number] as number, length) : undefined
  }

  function makeFrom(known: Buffer, steps: number[]): Buffer {
    // The first step may be a whole text.
    const size = known.length + (lengths[steps[0] ?? -1] ?? 0)
    if (steps.length > 0 && size * (steps.length - 1) <= maxCopied) {
      let text = known
      for (const step of steps) {
        const next = applyDelta(text, texts.read(at[step] as number, lengths[step] as number))
        if (text !== known) release(text)
        text = next
      }
      return text
    }
    const all = Buffer.concat([known, ...steps.map((step) => texts.read(at[step] as number, lengths[step] as number))])
    const near: Texts = { read: (at, length) => all.subarray(at, at + length) }
    let rope: Rope = { size: known.length, at: [0], lengths: [known.length] }
    let next = known.length
    for (const step of steps) {
      rope = foldDelta(rope, near, next, lengths[step] as number)
      next += lengths[step] as number
    }
    const text = Buffer.concat([...readRope(rope, near)])
    release(all)
    return text
  }

  function fold(number: number): Rope {
    const steps: number[] = []
    let rope: Rope | undefined
    for (let step = number; !rope; step = bases[step] as number) {
      const known = step < 0 ? emptyRope : kept.get(step)
      if (known && !Buffer.isBuffer(known)) rope = known
      else if (shortened.has(step))
        rope = { size: lengths[step] as number, at: [at[step] as number], lengths: [lengths[step] as number] }
      else steps.push(step)
    }
    for (const step of steps.reverse()) rope = foldDelta(rope, texts, at[step] as number, lengths[step] as number)
    return rope
  }

  return {
    get size() {
      return nodes.size
    },
    add(revision: Revision) {
      const base = nodes.find(revision.base)
      if (base < 0 && !isNull(revision.base)) throw broken()
      const number = nodes.add(revision.node)
      if (number !== at.length) throw broken()
      at.push(revision.at)
      lengths.push(revision.length)
      bases.push(base)
      depths.push(base < 0 ? 0 : (depths[base] as number) + 1)
      return number
    },
    /** The number of a revision; -1 for the null revision and unknown ones. */
    find: (node: Buffer) => nodes.find(node),
    node: (number: number) => nodes.id(number),
    base: (number: number) => bases[number] as number,
    /** Valid until two other texts are requested. */
    text(number: number) {
      if (number < 0) return Buffer.alloc(0)
      const known = kept.get(number)
      if (known) {
        kept.delete(number)
        kept.set(number, known)
      }
      return known ?? keep(number, make(number))
    },
    /** Registers a copy of the whole text. */
    shorten(number: number, start: number, length: number) {
      at[number] = start
      lengths[number] = length
      depths[number] = 0
      shortened.add(number)
    },
    isLong: (number: number) => (depths[number] as number) >= longestChain,
  }
}

/** The revisions of one log, each stored as a delta against an earlier one. */
export type Chain = ReturnType<typeof openDeltaChain>

function costOf(text: Buffer | Rope): number {
  return Buffer.isBuffer(text) ? text.length + 100 : text.at.length * 16 + 100
}

/** The id of a revision is the SHA-1 of both parents' ids, the smaller first, and the text. */
export function startNode({ p1, p2 }: Pick<Revision, 'p1' | 'p2'>) {
  const [first, second] = p1.compare(p2) <= 0 ? [p1, p2] : [p2, p1]
  return createHash('sha1').update(first).update(second)
}
