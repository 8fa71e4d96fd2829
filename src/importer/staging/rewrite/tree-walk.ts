import { addAttributes, attributesFile } from './gitattributes.ts'
import type { ObjectReader } from './object-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import { recent } from './recent-map.ts'
import { findEntries, folder, insertFile, replaceEntries } from './trees.ts'

/** What becomes of files at certain paths. */
export interface Treatment {
  /** Which blob stands for one from now on, itself or another; null leaves the file out. */
  replace(id: string): Promise<string | null>
  /** Whether git is told that these paths are LFS's. */
  attributes: boolean
}

/** A folder on the way to one of the paths, or a path itself. */
interface Place {
  number: number
  path: string
  wanted: boolean
  below: Map<string, Place>
  lengths: Set<number>
}

interface Walked {
  /** Null when nothing is left in it. */
  id: string | null
  /** The paths that are there. */
  paths: string[]
}

const memory = 20_000

/** Gives what stands for a tree when every file at one of these paths is treated; only folders on the way to them are read. */
export function openTreeWalk(paths: Iterable<string>, treatment: Treatment, reader: ObjectReader, packs: PackWriter) {
  const root = plant(paths)
  const trees = recent<Walked>(memory)
  const attributes = recent<string>(memory)

  async function walk(id: string, place: Place): Promise<Walked> {
    const key = `${place.number} ${id}`
    const known = trees.get(key)
    if (known) return known
    const walked = await rewrite(id, (await reader.read(id)).data, place)
    trees.set(key, walked)
    return walked
  }

  async function rewrite(id: string, tree: Buffer, place: Place): Promise<Walked> {
    const found: string[] = []
    const changes = []
    for (const entry of findEntries(tree, place.below, place.lengths)) {
      const below = place.below.get(entry.name)
      if (!below) continue
      let stands: string | null = entry.id
      if (entry.mode === folder) {
        const walked = await walk(entry.id, below)
        found.push(...walked.paths)
        stands = walked.id
      } else if (below.wanted && /^100/.test(entry.mode)) {
        stands = await treatment.replace(entry.id)
        if (stands !== null) found.push(below.path)
      }
      if (stands !== entry.id) changes.push({ entry, id: stands })
    }
    const replaced = changes.length ? replaceEntries(tree, changes) : tree
    const written = place === root && treatment.attributes && found.length ? await tellLfs(replaced, found) : replaced
    if (written === tree) return { id, paths: found }
    return { id: written.length || place === root ? packs.add('tree', written) : null, paths: found }
  }

  async function tellLfs(tree: Buffer, found: string[]): Promise<Buffer> {
    const [entry] = findEntries(tree, new Set([attributesFile]), new Set([attributesFile.length]))
    // A folder or a link of that name is nothing that git reads.
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

function plant(paths: Iterable<string>): Place {
  let count = 0
  const open = (path: string): Place => ({ number: count++, path, wanted: false, below: new Map(), lengths: new Set() })
  const root = open('')
  for (const path of paths) {
    let place = root
    for (const name of path.split('/')) {
      const below = place.below.get(name) ?? open(place === root ? name : `${place.path}/${name}`)
      place.below.set(name, below)
      place.lengths.add(name.length)
      place = below
    }
    place.wanted = true
  }
  return root
}
