/**
 * Version 0 of Subversion's difference format, the one that `svnrdump` writes: windows of at most 100 KB, each made from a part of the
 * former text (its view), from itself, and from new bytes.
 */
interface Window {
  view: number
  viewLength: number
  length: number
  instructions: Buffer
  fresh: Buffer
}

const magic = Buffer.from('SVN\0')
/** As Subversion itself has it; an instruction makes at least a byte, and takes five at most. */
const longestWindow = 102_400
const longestInstructions = 5 * longestWindow
/** The most that the five numbers before a window take. */
const longestHead = 50

/** Gives the bytes of the former text from a place on. */
export type View = (from: number, length: number) => Buffer

/** How long a text becomes, and whether the former one is needed for it. */
export function measureDelta(delta: Buffer): { size: number; based: boolean } {
  let size = 0
  let based = false
  eachWindow(delta, (window) => {
    size += window.length
    based ||= window.viewLength > 0
  })
  return { size, based }
}

/** For what is known to fit into memory. */
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
    if (!read) throw new Error('a difference ends in the middle of a window')
    visit(read.window)
    at = read.end
  }
}

/** For what may be large: gives one window's bytes after the other. */
export async function* applyDeltaInPieces(
  pieces: AsyncIterable<Buffer>,
  prepareView: () => Promise<View>,
): AsyncGenerator<Buffer> {
  let view: View | undefined
  let here: Buffer = Buffer.alloc(0)
  let begun = false
  for await (const piece of pieces) {
    here = Buffer.concat([here, piece])
    if (!begun) {
      if (here.length < magic.length) continue
      here = here.subarray(checkMagic(here))
      begun = true
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
  if (here.length > 0) throw new Error('a difference ends in the middle of a window')
}

const empty: View = () => Buffer.alloc(0)

function checkMagic(delta: Buffer): number {
  if (delta.length === 0) return 0
  if (delta.length >= 4 && delta.compare(magic, 0, 4, 0, 4) === 0) return 4
  throw new Error('a difference is not of the version that is supported')
}

/** Undefined when not all of it is there. */
function readWindow(bytes: Buffer, start: number): { window: Window; end: number } | undefined {
  let at = start
  const head: number[] = []
  while (head.length < 5) {
    let value = 0
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined) {
        if (bytes.length - start > longestHead) throw new Error('a window has no end')
        return
      }
      value = value * 128 + (byte & 127)
      if (byte < 128) break
    }
    head.push(value)
  }
  const [view = 0, viewLength = 0, length = 0, instructionsLength = 0, freshLength = 0] = head
  if (Math.max(viewLength, length, freshLength) > longestWindow || instructionsLength > longestInstructions)
    throw new Error('a window is longer than Subversion makes them')
  const end = at + instructionsLength + freshLength
  if (end > bytes.length) return
  const instructions = bytes.subarray(at, at + instructionsLength)
  return { window: { view, viewLength, length, instructions, fresh: bytes.subarray(at + instructionsLength, end) }, end }
}

function applyWindow({ view, viewLength, length, instructions, fresh }: Window, from: View, target: Buffer) {
  const source = viewLength > 0 ? from(view, viewLength) : empty(0, 0)
  if (source.length !== viewLength) throw new Error('a window needs more of the former text than there is')
  let done = 0
  let used = 0
  let at = 0
  const number = () => {
    for (let value = 0; ; ) {
      const byte = instructions[at++]
      if (byte === undefined) throw new Error('an instruction is cut off')
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
    // A copy from itself may reach into what it is just making: that repeats it.
    else if (offset + count <= done) target.copy(target, done, offset, offset + count)
    else for (let step = 0; step < count; step++) target[done + step] = target[offset + step] ?? 0
    if (kind === 2) used += count
    done += count
  }
  if (done !== length) throw new Error('a window is shorter than it says')
}
