import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** What is on disk for certain after something was done in a folder, and what is not. */
export interface Syncs {
  /** Files that are new or changed. */
  written: string[]
  /** Folders with an entry that is new, replaced or gone, and that nobody synced. */
  unsynced_folders: string[]
  /** How many files this process synced. */
  synced_files: number
  /** How many files git flushed to disk, and how many it only began to write. */
  git_flushed: number
  git_only_begun: number
}

/**
 * Watches what is synced. Git counts its flushes, for which a script of the same name stands before it in the search path and asks for that;
 * our own go through one method of Node's file handles.
 */
export async function watchSyncs(): Promise<
  { during(folder: string, act: () => Promise<unknown>): Promise<Syncs> } & AsyncDisposable
> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-syncs-'))
  const [bin, traces] = [join(folder, 'bin'), join(folder, 'traces')]
  for (const each of [bin, traces]) mkdirSync(each)
  const path = process.env.PATH ?? ''
  // Those of clients are of no interest: only ours have settings in their environment.
  const trace = `[ -z "$GIT_CONFIG_COUNT" ] || export GIT_TRACE2_EVENT='${traces}'`
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${trace}\nPATH='${path}' exec git "$@"\n`, { mode: 0o755 })
  process.env.PATH = `${bin}:${path}`
  // By inode: what is synced may be renamed afterwards.
  const synced = { folders: new Set<number>(), files: new Set<number>() }
  const prototype = await prototypeOf(folder)
  const { sync } = prototype
  prototype.sync = async function (this: FileHandle) {
    const found = await this.stat()
    await sync.call(this)
    synced[found.isDirectory() ? 'folders' : 'files'].add(found.ino)
  }
  return {
    async during(place, act) {
      const root = realpathSync(place)
      const before = snapshot(root)
      readTraces(traces)
      for (const inodes of Object.values(synced)) inodes.clear()
      await act()
      const after = snapshot(root)
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name))
      const folders = new Set(changed.map((name) => dirname(name)))
      return {
        written: changed.filter((name) => after.get(name)?.startsWith('file')),
        unsynced_folders: [...folders].filter((name) => after.has(name) && !synced.folders.has(statSync(name).ino)),
        synced_files: synced.files.size,
        ...readTraces(traces),
      }
    },
    async [Symbol.asyncDispose]() {
      prototype.sync = sync
      process.env.PATH = path
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function prototypeOf(folder: string): Promise<FileHandle> {
  await using handle = await open(folder, 'r')
  return Object.getPrototypeOf(handle)
}

/** What stands below a folder: files by their inode, since a file that is renamed over another is another one. */
function snapshot(root: string): Map<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const found = entries.map((entry): [string, string] => {
    const name = join(entry.parentPath, entry.name)
    return [name, entry.isDirectory() ? 'folder' : `file ${statSync(name).ino}`]
  })
  return new Map([...found, [root, 'folder']])
}

function readTraces(traces: string) {
  const counts = { git_flushed: 0, git_only_begun: 0 }
  for (const name of readdirSync(traces)) {
    for (const line of readFileSync(join(traces, name), 'utf8').split('\n').filter(Boolean)) {
      const { key, value } = JSON.parse(line)
      if (key === 'fsync/hardware-flush') counts.git_flushed += Number(value)
      if (key === 'fsync/writeout-only') counts.git_only_begun += Number(value)
    }
    rmSync(join(traces, name))
  }
  return counts
}
