import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Writes a folder's entries to disk: without it, a power loss can undo a rename, a link or a removal although the file itself is synced. */
export const syncFolder = syncPath

/** Writes a file's contents to disk. */
export const syncFile = syncPath

async function syncPath(path: string) {
  await using file = await open(path, 'r')
  await file.sync()
}

/** Creates a folder and the missing ones above it, all on disk when this resolves. */
export async function makeFolders(path: string, mode = 0o700) {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) return
  // Each new folder is an entry of the one above it.
  const top = dirname(resolve(first))
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    await syncFolder(folder)
    if (folder === top) return
  }
}

/** Writes a small file that cannot be recreated, such as a key. The caller syncs the folder after the last rename. */
export function writeSynced(path: string, text: string, mode: number) {
  const file = openSync(path, 'w', mode)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export function syncFolderNow(path: string) {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Runs `work` for each item, so many at a time. */
export async function eachOf<T>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<unknown>) {
  const iterator = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

/** A moment on both clocks of this machine: the wall clock may be set while something is written. */
export interface Timestamp {
  wall: number
  monotonic: number
}

export const takeTimestamp = (): Timestamp => ({ wall: Date.now(), monotonic: performance.now() })

/** File systems round times, by two seconds at most. */
const rounding = 2000

/** A lower bound for the times of files that were written since then, even if the wall clock was set meanwhile. */
export function earliest(since: Timestamp | undefined) {
  if (!since) return -Infinity
  return Math.min(since.wall, Date.now() - (performance.now() - since.monotonic)) - rounding
}
