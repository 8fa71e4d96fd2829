import type { Connection } from './connection.ts'
import { readDump } from './dump.ts'
import { traitsIn } from './gitattributes.ts'
import { listsIn } from './gitignore.ts'
import type { Folder, Inspector } from './inspector.ts'
import { addressOf, type Repository } from './projects.ts'

/** Several folders are compared at the same time. */
const maxLoaded = 16

/** Reads all contents of a folder in a revision and keeps the checksums. Works with every server. */
export function inspectByDump(repository: Repository, connection: Connection, ignores = false): Inspector {
  const loaded: { path: string; number: number; folders: Promise<Map<string, Folder>> }[] = []
  return {
    async list(path, number) {
      const holds = (one: (typeof loaded)[number]) =>
        one.number === number && (one.path === '' || path === one.path || path.startsWith(`${one.path}/`))
      const found = loaded.find(holds) ?? { path, number, folders: load(repository, connection, path, number) }
      if (!loaded.includes(found)) loaded.push(found)
      if (loaded.length > maxLoaded) loaded.shift()
      const { entries = [], lists = {} } = (await found.folders).get(path) ?? {}
      return { entries, lists: ignores ? lists : {} }
    },
    async [Symbol.asyncDispose]() {},
  }
}

async function load(repository: Repository, connection: Connection, path: string, number: number) {
  const folders = new Map<string, Folder>()
  const folderAt = (place: string) => {
    const folder = folders.get(place) ?? { entries: [], lists: {} }
    folders.set(place, folder)
    return folder
  }
  const source = connection.dump(['--revision', `${number}:${number}`], addressOf(repository, path))
  try {
    const dump = readDump(source.output)
    for (let record = await dump.next(); record; record = await dump.next()) {
      const { headers, properties } = record
      const node = headers.get('Node-path')
      if (node === undefined) continue
      if (properties && headers.get('Node-kind') === 'dir')
        folderAt(node).lists = listsIn((name) => properties.get(name)?.toString())
      if (node === '' || !node.startsWith(path === '' ? '' : `${path}/`)) continue
      const slash = node.lastIndexOf('/')
      const parent = node.slice(0, Math.max(slash, 0))
      const folder = headers.get('Node-kind') === 'dir'
      const listed = {
        name: node.slice(slash + 1),
        folder,
        // Unknown, so that nothing counts as compared before.
        changed: Number.NaN,
        md5: folder ? '' : (headers.get('Text-content-md5') ?? emptyText),
        executable: Boolean(properties?.get('svn:executable')),
        special: Boolean(properties?.get('svn:special')),
        traits: traitsIn((name) => properties?.get(name)?.toString()),
      }
      folderAt(parent).entries.push(listed)
    }
    await source.ended
  } finally {
    source.stop()
  }
  return folders
}

/** The MD5 of an empty file. */
const emptyText = 'd41d8cd98f00b204e9800998ecf8427e'
