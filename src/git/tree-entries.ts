import { resolve } from 'node:path'
import { split, streamGit, within } from './run-git.ts'
import type { Storage } from './storage.ts'

export interface Entry {
  mode: string
  type: string
  sha: string
  size: number
  path: string
}

/** In bytes, for one entry. */
const longestLine = 1 << 13
const patience = 30_000

/** The entries along a path, from the outermost folder to the path itself; if the path does not exist, those that do. */
export async function readPath(storage: Storage, repo_id: number, commit: string, path: string): Promise<Entry[]> {
  // For one path, git lists its parent folders. If we named those too, it would list all their entries.
  const { entries: chain } = await listTree(storage, repo_id, ['-t', commit, '--', path], { entries: 200 })
  if (chain.at(-1)?.path === path) return chain
  const next = path.split('/', chain.length + 1).join('/')
  const { entries } = await listTree(storage, repo_id, [commit, '--', next], { entries: 1 })
  return [...chain, ...entries.filter((entry) => entry.path === next)]
}

export interface Most {
  entries: number
  /** The approximate size of the response. */
  bytes?: number
}

/** Bytes of an entry in a response, besides its name. */
const costOfEntry = 250

export interface Listing {
  entries: Entry[]
  /** Whether entries were left out. */
  truncated: boolean
}

/** The entries of a tree; with `deep`, of all its subtrees too. */
export function readFolder(storage: Storage, repo_id: number, tree: string, most: Most, deep = false): Promise<Listing> {
  return listTree(storage, repo_id, [...(deep ? ['-r', '-t'] : []), tree], most)
}

/** Stops git as soon as there are enough entries, because git reads each object to find its size. */
async function listTree(storage: Storage, repo_id: number, args: string[], most: Most): Promise<Listing> {
  const entries: Entry[] = []
  let left = most.bytes ?? Number.POSITIVE_INFINITY
  const list = ['--literal-pathspecs', 'ls-tree', '-z', '-l', ...args]
  return within(patience, async (signal) => {
    for await (const lines of split(streamGit(resolve(storage.pathOf(repo_id)), list, { signal }), 0, longestLine)) {
      for (const line of lines) {
        const [, mode = '', type = '', sha = '', size = '', path = ''] = pattern.exec(line.toString()) ?? []
        if (!path) continue
        left -= path.length + costOfEntry
        if (entries.length >= most.entries || left < 0) return { entries, truncated: true }
        entries.push({ mode, type, sha, size: Number(size) || 0, path })
      }
    }
    return { entries, truncated: false }
  })
}

const pattern = /^(\d+) (\w+) (\w+) +(\d+|-)\t(.+)$/s
