/**
 * Version 0 of Subversion's delta format, which `svnrdump` writes: windows of at most 100 KB, each built from a part of the former text
 * (its view), from itself, and from new bytes.
 */
interface Window {
  view: number
  viewLength: number
  length: number
  instructions: Buffer
  fresh: Buffer
}

const magic = Buffer.from('SVN\0')
/** The limits of Subversion. An instruction produces at least one byte and takes at most five. */
const longestWindow = 102_400
const longestInstructions = 5 * longestWindow
/** The longest header, of five numbers. */
const longestHead = 50

/** Reads bytes of the former text. */
export type View = (from: number, length: number) => Buffer

/** The length of the result, and whether it needs the former text. */
export function measureDelta(delta: Buffer): { size: number; based: boolean } {
  let size = 0
  let based = false
  eachWindow(delta, (window) => {
    size += window.length
    based ||= window.viewLength > 0
  })
  return { size, based }
}

/** For texts that fit into memory. */
export function applyDelta(delta: Buffer, view: View, size: number): Buffer {
  const target = Buffer.allocUnsafe(size)
  let done = 0
  eachWindow(delta, (window) => {
    applyWindow(window, view, target.subarray(done, done + window.length))
    done += window.length
  })
  return target
}

function eachWindow(delta: Buffer, visit: (window: Window) => void) {
  for (let at = checkMagic(delta); at < delta.length; ) {
    const read = readWindow(delta, at)
    if (!read) throw new Error('the delta ends inside a window')
    visit(read.window)
    at = read.end
  }
}

/** For large texts: yields the bytes of one window at a time. */
export async function* applyDeltaInPieces(
  pieces: AsyncIterable<Buffer>,
  prepareView: () => Promise<View>,
): AsyncGenerator<Buffer> {
  let view: View | undefined
  let here: Buffer = Buffer.alloc(0)
  let hasMagic = false
  for await (const piece of pieces) {
    here = Buffer.concat([here, piece])
    if (!hasMagic) {
      if (here.length < magic.length) continue
      here = here.subarray(checkMagic(here))
      hasMagic = true
    }
    for (let read = readWindow(here, 0); read; read = readWindow(here, 0)) {
      const { window } = read
      if (window.viewLength > 0) view ??= await prepareView()
      const target = Buffer.allocUnsafe(window.length)
      applyWindow(window, view ?? empty, target)
      yield target
      here = here.subarray(read.end)
    }
  }
  if (here.length > 0) throw new Error('the delta ends inside a window')
}

const empty: View = () => Buffer.alloc(0)

function checkMagic(delta: Buffer): number {
  if (delta.length === 0) return 0
  if (delta.length >= 4 && delta.compare(magic, 0, 4, 0, 4) === 0) return 4
  throw new Error('the version of the delta is not supported')
}

/** Undefined if the window is incomplete. */
function readWindow(bytes: Buffer, start: number): { window: Window; end: number } | undefined {
  let at = start
  const head: number[] = []
  while (head.length < 5) {
    let value = 0
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined) {
        if (bytes.length - start > longestHead) throw new Error('the header of a window is too long')
        return
      }
      value = value * 128 + (byte & 127)
      if (byte < 128) break
    }
    head.push(value)
  }
  const [view = 0, viewLength = 0, length = 0, instructionsLength = 0, freshLength = 0] = head
  if (Math.max(viewLength, length, freshLength) > longestWindow || instructionsLength > longestInstructions)
    throw new Error('a window is larger than Subversion allows')
  const end = at + instructionsLength + freshLength
  if (end > bytes.length) return
  const instructions = bytes.subarray(at, at + instructionsLength)
  return { window: { view, viewLength, length, instructions, fresh: bytes.subarray(at + instructionsLength, end) }, end }
}

function applyWindow({ view, viewLength, length, instructions, fresh }: Window, from: View, target: Buffer) {
  const source = viewLength > 0 ? from(view, viewLength) : empty(0, 0)
  if (source.length !== viewLength) throw new Error('a window needs more of the former text than exists')
  let done = 0
  let used = 0
  let at = 0
  const number = () => {
    for (let value = 0; ; ) {
      const byte = instructions[at++]
      if (byte === undefined) throw new Error('an instruction is incomplete')
      value = value * 128 + (byte & 127)
      if (byte < 128) return value
    }
  }
  while (at < instructions.length) {
    const code = instructions[at++] ?? 0
    const count = code & 63 || number()
    const kind = code >> 6
    const offset = kind < 2 ? number() : used
    const room = kind === 0 ? offset + count <= viewLength : kind === 1 ? offset < done : offset + count <= fresh.length
    if (!room || kind === 3 || done + count > length) throw new Error('an instruction reaches outside of its window')
    if (kind === 0) source.copy(target, done, offset, offset + count)
    else if (kind === 2) fresh.copy(target, done, offset, offset + count)
    // A copy may overlap its own output, which repeats bytes.
    else if (offset + count <= done) target.copy(target, done, offset, offset + count)
    else for (let step = 0; step < count; step++) target[done + step] = target[offset + step] ?? 0
    if (kind === 2) used += count
    done += count
  }
  if (done !== length) throw new Error('a window is shorter than its header says')
}
