import { broken } from './changegroup.ts'

/** The differences between two manifests by path: the node and flag, or an empty string for a deleted file. */
export type Differences = Map<string, string>

/** A manifest has a sorted line for each file: the path, a zero byte, the node in 40 digits, and an optional flag. */
export interface Line {
  path: string
  rest: string
  next: number
}

export function readLine(text: Buffer, at: number): Line {
  let zero = at
  // A loop is faster than indexOf here, because paths are short.
  for (let byte = text[zero]; byte !== 0; byte = text[++zero]) if (byte === 10 || byte === undefined) throw broken()
  const next = text.indexOf(10, zero) + 1
  if (zero === at || zero + 41 > next - 1 || next - zero > 43) throw broken()
  return { path: text.toString('latin1', at, zero), rest: text.toString('latin1', zero + 1, next - 1), next }
}

export function* readLines(text: Buffer, from = 0, to = text.length): Generator<Line> {
  for (let at = from; at < to; ) {
    const line = readLine(text, at)
    at = line.next
    yield line
  }
}

/** The offset of the line with this prefix, or -1. Binary search. */
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

/** Reads the differences from a delta. Undefined if its hunks do not consist of whole lines. */
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

/** Compares the manifests, skipping equal parts in large steps. */
export function differences(before: Buffer, after: Buffer): Differences {
  const found: Differences = new Map()
  let old = 0
  let now = 0
  for (;;) {
    const equal = commonLines(before, old, after, now)
    old += equal
    now += equal
    const left = old < before.length ? readLine(before, old) : undefined
    const right = now < after.length ? readLine(after, now) : undefined
    if (!left && !right) return found
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
}

const steps = [8192, 1024, 128]

/** The length of the equal whole lines from there, or a little less. */
function commonLines(a: Buffer, from: number, b: Buffer, other: number): number {
  const size = Math.min(a.length - from, b.length - other)
  let at = 0
  for (const step of steps) {
    while (at + step <= size && a.compare(b, other + at, other + at + step, from + at, from + at + step) === 0) at += step
  }
  return at === 0 ? 0 : Math.max(0, a.lastIndexOf(10, from + at - 1) + 1 - from)
}
