import { lstat, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { eachOf, earliest, syncFile, syncFolder, type Timestamp } from '#platform/durable.ts'

/**
 * Settings of every git that we run. Git syncs packs by default, but neither loose objects nor refs. `batch` would write many loose objects
 * with one flush; git promises its safety for the file systems of macOS and Windows only, so elsewhere each file is synced. More objects
 * than the limit come as one pack, which bounds the number of syncs of a push.
 */
export const durability = {
  // The manual of git 2.39 leaves refs out of `committed`, although git syncs them.
  'core.fsync': 'committed,reference',
  'core.fsyncMethod': process.platform === 'darwin' ? 'batch' : 'fsync',
  'transfer.unpackLimit': '20',
}

/** Fewer objects than this are written one by one; more are kept as a pack. */
export const unpackLimit = Number(durability['transfer.unpackLimit'])

/** For a repository that can be made again, such as the stage of an import: git syncs its packs, which may be linked into others, and no more. */
export const stageSettings = ['-c', 'core.fsync=none,pack,pack-metadata']

/** How many syncs run at the same time: Node has four threads for files, and others need them too. */
const atOnce = 3

/**
 * Syncs the folders of a repository's objects that changed since a moment, or all of them: git syncs the files that it writes, but not the
 * folders into which it renames them.
 */
export async function syncObjects(path: string, since?: Timestamp) {
  const objects = join(path, 'objects')
  const names = (await readdir(objects)).filter((name) => /^([0-9a-f]{2}|pack)$/.test(name))
  await syncChanged([...names.map((name) => join(objects, name)), objects], since)
}

/** The same of the folders that hold these refs, up to the repository's own. */
export async function syncRefs(path: string, names: Iterable<string>, since?: Timestamp) {
  const folders = new Set<string>()
  for (const name of names) {
    for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.add(join(path, at))
  }
  await syncChanged([...folders, path], since)
}

async function syncChanged(folders: string[], since: Timestamp | undefined) {
  const start = earliest(since)
  await eachOf(folders, atOnce, async (folder) => {
    try {
      if ((await stat(folder)).mtimeMs >= start) await syncFolder(folder)
    } catch (error) {
      // Git removes a folder with its last ref; the change is then in the folder above.
      if (!isAbsent(error)) throw error
    }
  })
}

const isAbsent = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Syncs a whole new repository. A file with a second name belongs to another repository too, which has synced it. */
export async function syncRepository(path: string) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  await eachOf(entries, atOnce, async (entry) => {
    const place = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await syncFolder(place)
    else if (entry.isFile() && (await lstat(place)).nlink === 1) await syncFile(place)
  })
  await syncFolder(path)
}
