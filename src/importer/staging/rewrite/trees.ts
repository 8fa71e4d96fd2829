/** In Latin-1, because names can be in any encoding. */
export interface TreeEntry {
  mode: string
  name: string
  id: string
  /** The offsets in the tree. */
  start: number
  end: number
}

export const folder = '40000'
const idSize = 20

/** The entries with the given names. Other names are skipped by their length. */
export function findEntries(tree: Buffer, names: { has(name: string): boolean }, lengths: Set<number>): TreeEntry[] {
  const found: TreeEntry[] = []
  for (let start = 0; start < tree.length; ) {
    const space = tree.indexOf(32, start)
    const zero = tree.indexOf(0, space)
    const end = zero + 1 + idSize
    if (lengths.has(zero - space - 1)) {
      const name = tree.toString('latin1', space + 1, zero)
      if (names.has(name)) {
        found.push({ mode: tree.toString('latin1', start, space), name, id: tree.toString('hex', zero + 1, end), start, end })
      }
    }
    start = end
  }
  return found
}

/** Replaces entries; null removes one. */
export function replaceEntries(tree: Buffer, changes: { entry: TreeEntry; id: string | null }[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { entry, id } of changes) {
    parts.push(tree.subarray(from, id === null ? entry.start : entry.end - idSize))
    if (id !== null) parts.push(Buffer.from(id, 'hex'))
    from = entry.end
  }
  return Buffer.concat([...parts, tree.subarray(from)])
}

/** Adds a file whose name is not in the tree. */
export function insertFile(tree: Buffer, name: string, id: string): Buffer {
  let at = 0
  while (at < tree.length) {
    const space = tree.indexOf(32, at)
    const zero = tree.indexOf(0, space)
    // Git sorts a folder as if its name ended with a slash.
    const other = tree.toString('latin1', space + 1, zero) + (tree.toString('latin1', at, space) === folder ? '/' : '')
    if (other > name) break
    at = zero + 1 + idSize
  }
  const entry = Buffer.concat([Buffer.from(`100644 ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])
  return Buffer.concat([tree.subarray(0, at), entry, tree.subarray(at)])
}
