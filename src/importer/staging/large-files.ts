import { runGit, split, streamGit } from '#git/run-git.ts'
import type { LargeFile } from '#importer/steps.ts'
import { type Blob, findBlobs } from './blobs.ts'

/** In bytes. A larger file is large. */
export const largeFile = 104_857_600

/** Only the list is limited; all large files are handled. */
const maxListed = 1000

const longestLine = 8192

export interface Search {
  /** The prefix of the refs, such as `refs/import/orig`, or one ref. */
  from: string
  signal: AbortSignal
  over?: number
  default_branch?: string | undefined
  /** The large blobs, if they are already known. */
  blobs?: Blob[] | undefined
}

/** Lists every large file at each of its paths, with a branch or tag that contains it: the default branch if possible. */
export async function findLargeFiles(repository: string, search: Search): Promise<LargeFile[]> {
  const { from, signal, default_branch } = search
  const large = await findLargeBlobs(repository, search)
  if (!large.size) return []
  const found = new Map<string, LargeFile>()
  const first = `${from}/heads/${default_branch}`
  const has_first = (await runGit(repository, ['for-each-ref', first], { signal, detached: false })).output.length > 0
  for (const revisions of has_first ? [[first], [`--glob=${from}`, '--not', first]] : [[`--glob=${from}`]]) {
    for await (const { ref, path, id } of findPaths(repository, large, revisions, signal)) {
      const key = `${id} ${path}`
      if (found.has(key) || found.size >= maxListed) continue
      const ref_name = Buffer.from(ref, 'latin1').toString().replace(from, 'refs')
      found.set(key, { ref_name, path: Buffer.from(path, 'latin1').toString(), oid: id, size: large.get(id) ?? 0 })
    }
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0))
}

/** The sizes of large blobs by id. */
export async function findLargeBlobs(
  repository: string,
  { signal, over = largeFile, blobs }: Search,
): Promise<Map<string, number>> {
  const isLarge = (size: number) => size > over
  const large = blobs?.filter(({ size }) => isLarge(size)) ?? (await findBlobs(repository, isLarge, signal)).found
  return new Map(large.map(({ id, size }) => [id, size]))
}

/** Every path that a large blob ever had, in Latin-1. */
export async function findLargePaths(repository: string, large: ReadonlyMap<string, number>, { from, signal }: Search) {
  const paths = new Set<string>()
  if (large.size) for await (const { path } of findPaths(repository, large, [`--glob=${from}`], signal)) paths.add(path)
  return paths
}

/** The commits and paths that add one of these blobs. Merges are included, because they may add files that no parent has. */
async function* findPaths(repository: string, blobs: ReadonlyMap<string, number>, revisions: string[], signal: AbortSignal) {
  const how = ['--raw', '-z', '--no-abbrev', '--no-renames', '-m', '--root', '--diff-filter=AMT', '--format=%x01%S']
  let ref = ''
  let id: string | undefined
  for await (const fields of split(
    streamGit(repository, ['log', ...how, ...revisions], { signal, detached: false }),
    0,
    longestLine,
  )) {
    for (const field of fields) {
      if (id !== undefined) {
        if (blobs.has(id)) yield { ref, path: field.toString('latin1'), id }
        id = undefined
        continue
      }
      const text = field.toString('latin1')
      if (text.startsWith('\x01')) ref = text.slice(1)
      // Modes, ids and status; the path follows.
      else id = /^\n?:\d+ \d+ \w+ (\w+) [AMT]$/.exec(text)?.[1]
    }
  }
}
