import { folded } from './paths.ts'

/** A file is only a name, because there are many. */
type Entry = string | Folder
interface Folder {
  name: string
  entries: Map<string, Entry>
}

export function openNames() {
  const root: Folder = { name: '', entries: new Map() }

  function walk(path: string): { above: Folder[]; entry: Entry | undefined } {
    const parts = path.split('/')
    const above = [root]
    for (const [index, part] of parts.entries()) {
      const entry = above.at(-1)?.entries.get(folded(part))
      if (index === parts.length - 1) return { above, entry }
      if (typeof entry !== 'object') return { above, entry: undefined }
      above.push(entry)
    }
    return { above, entry: undefined }
  }

  const spelled = (above: Folder[], name: string) => [...above.slice(1).map((folder) => folder.name), name].join('/')
  const nameOf = (entry: Entry) => (typeof entry === 'string' ? entry : entry.name)

  return {
    /** The path in its spelling, and whether it is a folder; undefined if it does not exist. */
    find(path: string) {
      if (path === '') return { path: '', folder: true }
      const { above, entry } = walk(path)
      return entry === undefined ? undefined : { path: spelled(above, nameOf(entry)), folder: typeof entry === 'object' }
    },
    /** Adds a file or folder with its parent folders. Returns the path in its spelling. */
    put(path: string, folder: boolean) {
      if (path === '') return ''
      const parts = path.split('/')
      const above = [root]
      for (const part of parts.slice(0, -1)) {
        const entries = above.at(-1)?.entries ?? root.entries
        const key = folded(part)
        const found = entries.get(key)
        const entry = typeof found === 'object' ? found : { name: found ?? part, entries: new Map() }
        if (entry !== found) entries.set(key, entry)
        above.push(entry)
      }
      const entries = above.at(-1)?.entries ?? root.entries
      const last = parts.at(-1) ?? ''
      const found = entries.get(folded(last))
      const name = found === undefined ? last : nameOf(found)
      if (!folder) entries.set(folded(last), name)
      else if (typeof found !== 'object') entries.set(folded(last), { name, entries: new Map() })
      return spelled(above, name)
    },
    /** Removes a path and everything in it. Returns its former spelling; undefined if it did not exist. */
    remove(path: string) {
      const { above, entry } = walk(path)
      if (entry === undefined) return undefined
      above.at(-1)?.entries.delete(folded(nameOf(entry)))
      return spelled(above, nameOf(entry))
    },
  }
}

/**
 * The existing paths in their spelling. TFVC ignores case and git does not, so the first spelling counts until the path is deleted or
 * renamed.
 */
export type Names = ReturnType<typeof openNames>
