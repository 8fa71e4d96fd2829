import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Syncs a folder. Without it, a power loss can undo a rename, a link or a removal even if the file itself is synced. */
export const syncFolder = syncPath

/** Syncs a file's contents. */
export const syncFile = syncPath

async function syncPath(path: string) {
  await using file = await open(path, 'r')
  await file.sync()
}

/** Creates a folder and its missing parents, and syncs them. */
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

/** Runs `work` for each item, `atOnce` items at a time. */
export async function eachOf<T>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<unknown>) {
  const iterator = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

/** A time on both clocks of this machine, because the wall clock may be set meanwhile. */
export interface Timestamp {
  wall: number
  monotonic: number
}

export const takeTimestamp = (): Timestamp => ({ wall: Date.now(), monotonic: performance.now() })

/** File systems round times by up to two seconds. */
const rounding = 2000

/** A lower bound for the modification times of files written since then, even if the wall clock was set. */
export function earliest(since: Timestamp | undefined) {
  if (!since) return -Infinity
  return Math.min(since.wall, Date.now() - (performance.now() - since.monotonic)) - rounding
}
