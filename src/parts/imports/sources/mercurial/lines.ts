import { broken } from './changegroup.ts'

/** What one manifest has and another has not, by path: the node and the flag behind it, or nothing for a file that is gone. */
export type Differences = Map<string, string>

/** A manifest is a line for each file, sorted: its path, a zero, its node in 40 digits, and a flag or none. */
export interface Line {
  path: string
  rest: string
  next: number
}

export function readLine(text: Buffer, at: number): Line {
  const zero = text.indexOf(0, at)
  const next = text.indexOf(10, at) + 1
  if (zero <= at || zero + 41 > next - 1 || next - zero > 43) throw broken()
  return { path: text.toString('latin1', at, zero), rest: text.toString('latin1', zero + 1, next - 1), next }
}

export function* readLines(text: Buffer, from = 0, to = text.length): Generator<Line> {
  for (let at = from; at < to; ) {
    const line = readLine(text, at)
    at = line.next
    yield line
  }
}

/** Where the line is that begins so, or -1: they are sorted. */
export function findLine(text: Buffer, start: string): number {
  const wanted = Buffer.from(start, 'latin1')
  const compare = (line: number) => text.compare(wanted, 0, wanted.length, line, Math.min(line + wanted.length, text.length))
  let from = 0
  let to = text.length
  while (from < to) {
    const middle = (from + to) >> 1
    const line = middle === 0 ? 0 : text.lastIndexOf(10, middle - 1) + 1
    const end = text.indexOf(10, middle)
    if (end < 0) throw broken()
    if (compare(line) < 0) from = end + 1
    else to = line
  }
  return compare(from) === 0 ? from : -1
}

/** By the delta between them, which names most of what changed and little else; undefined when its pieces are not whole lines. */
export function differencesOfDelta(base: Buffer, delta: Buffer): Differences | undefined {
  const found: Differences = new Map()
  for (let at = 0; at < delta.length; ) {
    const start = delta.readUInt32BE(at)
    const end = delta.readUInt32BE(at + 4)
    const from = at + 12
    const to = from + delta.readUInt32BE(at + 8)
    if (!isEdge(base, start) || !isEdge(base, end) || (to > from && delta[to - 1] !== 10)) return
    const before = new Map<string, string>()
    for (const { path, rest } of readLines(base, start, end)) before.set(path, rest)
    for (const { path, rest } of readLines(delta, from, to)) {
      if (before.get(path) !== rest) found.set(path, rest)
      before.delete(path)
    }
    for (const path of before.keys()) if (!found.has(path)) found.set(path, '')
    at = to
  }
  return found
}

const isEdge = (text: Buffer, at: number) => at === 0 || text[at - 1] === 10

/** By going through both. */
export function differences(before: Buffer, after: Buffer): Differences {
  const found: Differences = new Map()
  const start = commonStart(before, after)
  const [endBefore, endAfter] = withoutCommonEnd(before, after, start)
  let old = start
  let now = start
  while (old < endBefore || now < endAfter) {
    const left = old < endBefore ? readLine(before, old) : undefined
    const right = now < endAfter ? readLine(after, now) : undefined
    if (left && (!right || left.path < right.path)) {
      found.set(left.path, '')
      old = left.next
    } else if (right && (!left || right.path < left.path)) {
      found.set(right.path, right.rest)
      now = right.next
    } else if (left && right) {
      if (left.rest !== right.rest) found.set(right.path, right.rest)
      old = left.next
      now = right.next
    }
  }
  return found
}

const block = 4096

function commonStart(a: Buffer, b: Buffer): number {
  const size = Math.min(a.length, b.length)
  let at = 0
  while (at + block <= size && a.compare(b, at, at + block, at, at + block) === 0) at += block
  return at === 0 ? 0 : a.lastIndexOf(10, at - 1) + 1
}

/** Where what differs ends in both: at the start of a line, behind which they are equal. */
function withoutCommonEnd(a: Buffer, b: Buffer, start: number): [number, number] {
  let size = 0
  const most = Math.min(a.length, b.length) - start
  const isEqual = (back: number) =>
    a.compare(b, b.length - back, b.length - back + block, a.length - back, a.length - back + block) === 0
  while (size + block <= most && isEqual(size + block)) size += block
  const line = size === 0 ? a.length : a.indexOf(10, a.length - size) + 1
  return [line, b.length - (a.length - line)]
}
