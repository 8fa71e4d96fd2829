import { lstat, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { eachOf, earliest, syncFile, syncFolder, type Timestamp } from '#platform/durable.ts'
import { codeOf } from '#platform/unavailable.ts'

/**
 * Settings of every git that we run. By default, git syncs packs, but neither loose objects nor refs. `batch` writes many loose objects
 * with one flush, but git guarantees its safety only on the file systems of macOS and Windows, so elsewhere each file is synced. Above the
 * unpack limit, objects are stored as one pack, which bounds the number of syncs of a push.
 */
export const durability = {
  // The manual of git 2.39 leaves refs out of `committed`, although git syncs them.
  'core.fsync': 'committed,reference',
  'core.fsyncMethod': process.platform === 'darwin' ? 'batch' : 'fsync',
  'transfer.unpackLimit': '20',
}

/** Fewer objects than this are stored as loose objects, more as a pack. */
export const unpackLimit = Number(durability['transfer.unpackLimit'])

/**
 * For a repository that can be recreated, such as the staging repository of an import. Packs are synced, because other repositories may
 * link to them.
 */
export const stageSettings = ['-c', 'core.fsync=none,pack,pack-metadata']

/** Concurrent syncs. Node has four threads for files, and other work needs them too. */
const atOnce = 3

/**
 * Syncs the object folders of a repository that changed since a time, or all of them. Git syncs the files that it writes, but not the
 * folders into which it renames them.
 */
export async function syncObjects(path: string, since?: Timestamp) {
  const objects = join(path, 'objects')
  const names = (await readdir(objects)).filter((name) => /^([0-9a-f]{2}|pack)$/.test(name))
  await syncChanged([...names.map((name) => join(objects, name)), objects], since)
}

/** Syncs the folders of these refs, up to the repository's own. */
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
      // Git removes a folder with its last ref. The change is then in the parent folder.
      if (codeOf(error) !== 'ENOENT') throw error
    }
  })
}

/** Syncs a whole new repository. A file with two links also belongs to another repository, which has synced it. */
export async function syncRepository(path: string) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  await eachOf(entries, atOnce, async (entry) => {
    const place = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await syncFolder(place)
    else if (entry.isFile() && (await lstat(place)).nlink === 1) await syncFile(place)
  })
  await syncFolder(path)
}
