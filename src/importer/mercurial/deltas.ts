import { broken } from './changegroup.ts'

/** A store of texts and deltas. */
export interface Texts {
  read(at: number, length: number): Buffer
}

/** A text as pieces of the store, so that it can be larger than memory. */
export interface Rope {
  size: number
  at: number[]
  lengths: number[]
}

export const emptyRope: Rope = { size: 0, at: [], lengths: [] }

/** Applies a delta: hunks of a start, an end, and the bytes that replace the range. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let size = base.length
  for (let at = 0; at < delta.length; at += 12 + delta.readUInt32BE(at + 8)) {
    if (at + 12 > delta.length) throw broken()
    size += delta.readUInt32BE(at + 8) - (delta.readUInt32BE(at + 4) - delta.readUInt32BE(at))
  }
  if (size < 0) throw broken()
  const text = Buffer.allocUnsafeSlow(size)
  let from = 0
  let to = 0
  for (let at = 0; at < delta.length; ) {
    const start = delta.readUInt32BE(at)
    const end = delta.readUInt32BE(at + 4)
    const length = delta.readUInt32BE(at + 8)
    if (start < from || end < start || end > base.length || at + 12 + length > delta.length) throw broken()
    to += base.copy(text, to, from, start)
    to += delta.copy(text, to, at + 12, at + 12 + length)
    from = end
    at += 12 + length
  }
  to += base.copy(text, to, from)
  if (to !== size) throw broken()
  return text
}

const large = 64 << 10

/** Frees the memory of a large text at once. The garbage collector would wait for hundreds of megabytes. */
export function release(text: Buffer) {
  const { buffer } = text
  if (text.length >= large && text.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** The same for ropes. The cost depends on the number of pieces, not on the size of the text. */
export function foldDelta(base: Rope, texts: Texts, at: number, length: number): Rope {
  const rope: Rope = { size: 0, at: [], lengths: [] }
  const add = (from: number, count: number) => {
    if (count === 0) return
    rope.at.push(from)
    rope.lengths.push(count)
    rope.size += count
  }
  let piece = 0
  let used = 0
  let position = 0
  const advance = (until: number, keep: boolean) => {
    while (position < until) {
      const left = (base.lengths[piece] ?? 0) - used
      if (left === 0) throw broken()
      const count = Math.min(left, until - position)
      if (keep) add((base.at[piece] as number) + used, count)
      position += count
      used += count
      if (count < left) return
      piece++
      used = 0
    }
  }
  for (const hunk of readHunks(texts, at, length)) {
    if (hunk.start < position || hunk.end < hunk.start || hunk.end > base.size) throw broken()
    advance(hunk.start, true)
    advance(hunk.end, false)
    add(hunk.at, hunk.length)
  }
  advance(base.size, true)
  return rope
}

function* readHunks(texts: Texts, from: number, size: number) {
  // A small delta is read at once; of a large one, only the headers.
  const whole = size <= 64 << 10 ? texts.read(from, size) : undefined
  for (let at = 0; at < size; ) {
    if (at + 12 > size) throw broken()
    const head = whole ? whole.subarray(at, at + 12) : texts.read(from + at, 12)
    const length = head.readUInt32BE(8)
    if (at + 12 + length > size) throw broken()
    yield { start: head.readUInt32BE(0), end: head.readUInt32BE(4), at: from + at + 12, length }
    at += 12 + length
  }
}

const piece = 128 << 10

/** The bytes of a text after `skip`, in small chunks. */
export function* readRope({ at, lengths }: Rope, texts: Texts, skip = 0): Generator<Buffer> {
  let left = skip
  for (const [index, length] of lengths.entries()) {
    const passed = Math.min(left, length)
    left -= passed
    for (let done = passed; done < length; done += piece)
      yield texts.read((at[index] as number) + done, Math.min(piece, length - done))
  }
}
