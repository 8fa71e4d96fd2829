import type { ObjectReader } from '#importer/staging/object-reader.ts'
import { addAttributes, attributesFile } from './gitattributes.ts'
import type { PackWriter } from './pack-writer.ts'
import { recentMap } from './recent-map.ts'
import { findEntries, folder, insertFile, replaceEntries } from './trees.ts'

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
