import type { ObjectReader } from '#importer/staging/object-reader.ts'
import type { PackWriter } from './pack-writer.ts'

/** How blobs at certain paths are replaced. */
export interface BlobTreatment {
  /** The new blob, or the same; null removes the file. */
  replace(id: string): Promise<string | null>
  /** Whether the paths are listed in `.gitattributes`. */
  attributes: boolean
}

/** One of the paths, or a folder above one. */
interface PathNode {
  number: number
  path: string
  wanted: boolean
  below: Map<string, PathNode>
  lengths: Set<number>
}

interface Walked {
  /** Null if the tree is empty. */
  id: string | null
  /** The wanted paths that exist in the tree. */
  paths: string[]
}

const memory = 20_000

/** Rewrites trees so that every file at one of the paths is replaced. Reads only the folders above these paths. */
export function openTreeWalk(paths: Iterable<string>, treatment: BlobTreatment, reader: ObjectReader, packs: PackWriter) {
  const root = buildPathNodes(paths)
  const trees = recentMap<Walked>(memory)
  const attributes = recentMap<string>(memory)

  async function walk(id: string, node: PathNode): Promise<Walked> {
    const key = `${node.number} ${id}`
    const known = trees.get(key)
    if (known) return known
    const walked = await rewrite(id, (await reader.read(id)).data, node)
    trees.set(key, walked)
    return walked
  }

  async function rewrite(id: string, tree: Buffer, node: PathNode): Promise<Walked> {
    const found: string[] = []
    const changes = []
    for (const entry of findEntries(tree, node.below, node.lengths)) {
      const below = node.below.get(entry.name)
      if (!below) continue
      let replacement: string | null = entry.id
      if (entry.mode === folder) {
        const walked = await walk(entry.id, below)
        found.push(...walked.paths)
        replacement = walked.id
      } else if (below.wanted && /^100/.test(entry.mode)) {
        replacement = await treatment.replace(entry.id)
        if (replacement !== null) found.push(below.path)
      }
      if (replacement !== entry.id) changes.push({ entry, id: replacement })
    }
    const replaced = changes.length ? replaceEntries(tree, changes) : tree
    const written = node === root && treatment.attributes && found.length ? await addLfsAttributes(replaced, found) : replaced
    if (written === tree) return { id, paths: found }
    return { id: written.length || node === root ? packs.add('tree', written) : null, paths: found }
  }

  async function addLfsAttributes(tree: Buffer, found: string[]): Promise<Buffer> {
    const [entry] = findEntries(tree, new Set([attributesFile]), new Set([attributesFile.length]))
    // Git ignores a folder or link of this name.
    if (entry && !/^100/.test(entry.mode)) return tree
    const key = `${entry?.id} ${found.join('\0')}`
    let id = attributes.get(key)
    if (id === undefined) {
      const before = entry ? (await reader.read(entry.id)).data.toString('latin1') : ''
      const after = addAttributes(before, found)
      id = after === undefined ? (entry?.id ?? '') : packs.add('blob', Buffer.from(after, 'latin1'))
      attributes.set(key, id)
    }
    if (!entry) return insertFile(tree, attributesFile, id)
    return id === entry.id ? tree : replaceEntries(tree, [{ entry, id }])
  }

  return (tree: string) => walk(tree, root).then(({ id }) => id ?? tree)
}

function buildPathNodes(paths: Iterable<string>): PathNode {
  let count = 0
  const open = (path: string): PathNode => ({ number: count++, path, wanted: false, below: new Map(), lengths: new Set() })
  const root = open('')
  for (const path of paths) {
    let node = root
    for (const name of path.split('/')) {
      const below = node.below.get(name) ?? open(node === root ? name : `${node.path}/${name}`)
      node.below.set(name, below)
      node.lengths.add(name.length)
      node = below
    }
    node.wanted = true
  }
  return root
}

const attributesFile = '.gitattributes'

/** The line that assigns a path to LFS. All text is in Latin-1. */
function attributeOf(path: string) {
  // Spaces cannot be escaped there, only matched by a class.
  const pattern = path.replaceAll(/[[\]*?\\]/g, '\\$&').replaceAll(/[ \t\n\v\f\r]/g, '[[:space:]]')
  return `/${pattern} filter=lfs diff=lfs merge=lfs -text`
}

/** Adds the lines for these paths; undefined if the file has them all. */
function addAttributes(attributes: string, paths: string[]): string | undefined {
  const lines = new Set(attributes.split(/\r?\n/))
  const added = paths.map(attributeOf).filter((line) => !lines.has(line))
  if (!added.length) return undefined
  const before = attributes === '' || attributes.endsWith('\n') ? attributes : `${attributes}\n`
  return `${before}${added.join('\n')}\n`
}

/** A cache of the last `size` to twice `size` entries. */
interface RecentMap<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

function recentMap<V>(size: number): RecentMap<V> {
  let [young, old] = [new Map<string, V>(), new Map<string, V>()]
  return {
    get(key) {
      const found = young.get(key)
      if (found !== undefined) return found
      const older = old.get(key)
      if (older !== undefined) this.set(key, older)
      return older
    },
    set(key, value) {
      if (young.size >= size) [young, old] = [new Map(), young]
      young.set(key, value)
    },
  }
}

/** In Latin-1, because names can be in any encoding. */
interface TreeEntry {
  mode: string
  name: string
  id: string
  /** The offsets in the tree. */
  start: number
  end: number
}

const folder = '40000'
const idSize = 20

/** The entries with the given names. Other names are skipped by their length. */
function findEntries(tree: Buffer, names: { has(name: string): boolean }, lengths: Set<number>): TreeEntry[] {
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
function replaceEntries(tree: Buffer, changes: { entry: TreeEntry; id: string | null }[]): Buffer {
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
function insertFile(tree: Buffer, name: string, id: string): Buffer {
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
