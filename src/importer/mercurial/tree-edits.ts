import type { TreeEntry } from './trees.ts'

/** A folder of a tree. It never changes, so that the trees of many commits share it. */
export interface Folder {
  id: string
  /** As git stores it, in Latin-1. A string, because the garbage collector is slow with many small Buffers. */
  content: string
  folders: ReadonlyMap<string, Folder>
}

/** A file to set, or a path to remove. In Latin-1. */
export interface TreeChange {
  path: string
  entry?: TreeEntry | undefined
}

/** Returns the id of a tree. `delta` makes its content from that of `before`. */
export type WriteTree = (content: string, before?: Folder, delta?: () => Buffer) => string

export function emptyFolder(write: WriteTree): Folder {
  return { id: write(''), content: '', folders: new Map() }
}

/** Makes a tree of another one. The changes are sorted by path. */
export function changeTree(write: WriteTree, before: Folder, changes: TreeChange[]): Folder {
  return changeFolder(write, before, changes, 0, changes.length, 0) ?? emptyFolder(write)
}

/** The changes from `first` to `last` are below this folder, whose own path takes `skip` characters. Undefined if nothing is left. */
function changeFolder(
  write: WriteTree,
  before: Folder | undefined,
  changes: TreeChange[],
  first: number,
  last: number,
  skip: number,
): Folder | undefined {
  const edits: Edit[] = []
  let folders: Map<string, Folder> | undefined
  for (let at = first; at < last; ) {
    const { path, entry } = changes[at] as TreeChange
    const slash = path.indexOf('/', skip)
    if (slash < 0) {
      edits.push({ key: path.slice(skip), stored: entry?.stored })
      at++
      continue
    }
    const prefix = path.slice(0, slash + 1)
    const from = at
    while (at < last && (changes[at] as TreeChange).path.startsWith(prefix)) at++
    const name = path.slice(skip, slash)
    const known = before?.folders.get(name)
    const changed = changeFolder(write, known, changes, from, at, slash + 1)
    if (changed?.id === known?.id) continue
    folders ??= new Map(before?.folders)
    if (changed) folders.set(name, changed)
    else folders.delete(name)
    const stored = changed && `40000 ${name}\0${Buffer.from(changed.id, 'hex').toString('latin1')}`
    edits.push({ key: `${name}/`, stored })
  }
  const old = before?.content ?? ''
  const pieces = edit(old, edits)
  const content = join(old, pieces)
  if (content.length === 0) return
  const id = before ? write(content, before, () => encodeDelta(old, content, pieces)) : write(content)
  return { id, content, folders: folders ?? before?.folders ?? new Map() }
}

/** `key` is the name by which git sorts: folders end with a slash. Without `stored`, the entry is removed. */
interface Edit {
  key: string
  stored: string | undefined
}

/** A range of the old content, or new bytes in Latin-1. */
type Piece = { from: number; to: number } | string

function edit(old: string, edits: Edit[]): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  let kept = 0
  const keep = (to: number) => {
    if (to > kept) pieces.push({ from: kept, to })
  }
  for (const { key, stored } of edits) {
    let order = 1
    while (at < old.length) {
      order = compareAt(old, at, key)
      if (order >= 0) break
      at = endOf(old, at)
    }
    if (at < old.length && order === 0) {
      const end = endOf(old, at)
      // Only the id changes, as long as the mode stays.
      const same = stored?.length === end - at && stored.startsWith(old.slice(at, end - 20))
      keep(same ? end - 20 : at)
      if (stored !== undefined) pieces.push(same ? stored.slice(-20) : stored)
      at = end
      kept = end
    } else if (stored !== undefined) {
      keep(at)
      pieces.push(stored)
      kept = at
    }
  }
  keep(old.length)
  return pieces
}

const slash = 47
const digitFour = 52

/** Compares the entry with a key, as git sorts. Only modes of folders begin with a four. */
function compareAt(tree: string, at: number, key: string): number {
  const folder = tree.charCodeAt(at) === digitFour
  let place = at + (folder ? 6 : 7)
  for (let index = 0; index < key.length; index++, place++) {
    const byte = tree.charCodeAt(place)
    const difference = (byte === 0 ? (folder ? slash : -1) : byte) - key.charCodeAt(index)
    if (difference !== 0) return difference
    if (byte === 0) return 0
  }
  return tree.charCodeAt(place) === 0 && !folder ? 0 : 1
}

/** The end of the entry: after a zero byte, it has an id of twenty bytes. */
function endOf(tree: string, at: number): number {
  return tree.indexOf('\0', at + 7) + 21
}

const join = (old: string, pieces: Piece[]) =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : old.slice(piece.from, piece.to))).join('')

/** The longest range that one command copies, and the most bytes that one command inserts. */
const maxCopied = 0xffff
const maxInserted = 0x7f

/** A delta in git's format. */
function encodeDelta(old: string, content: string, pieces: Piece[]): Buffer {
  const delta: number[] = []
  for (let size of [old.length, content.length]) {
    for (; size >= 0x80; size = Math.floor(size / 0x80)) delta.push(0x80 | (size & 0x7f))
    delta.push(size)
  }
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      for (let at = 0; at < piece.length; at += maxInserted) {
        const some = piece.slice(at, at + maxInserted)
        delta.push(some.length)
        for (let index = 0; index < some.length; index++) delta.push(some.charCodeAt(index))
      }
    } else {
      for (let from = piece.from; from < piece.to; from += maxCopied) pushCopy(delta, from, Math.min(maxCopied, piece.to - from))
    }
  }
  return Buffer.from(delta)
}

/** A byte that tells which bytes of the position and the length follow; the others are zero. */
function pushCopy(delta: number[], from: number, length: number) {
  const command = delta.push(0x80) - 1
  let present = 0x80
  for (let index = 0; index < 6; index++) {
    const byte = ((index < 4 ? from : length) >>> (8 * (index % 4))) & 0xff
    if (byte === 0) continue
    delta.push(byte)
    present |= 1 << index
  }
  delta[command] = present
}
