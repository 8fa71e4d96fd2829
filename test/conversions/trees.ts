import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Mode, id and path of each file, in the form of git. Paths are in Latin-1, so that all bytes stay distinct. */
export type Tree = Map<string, string>

/** The files of a folder on disk. */
export function readFolder(target: string): Tree {
  const entries = readdirSync(Buffer.from(target), { recursive: true, withFileTypes: true, encoding: 'buffer' })
  const files = entries.filter((entry) => !entry.isDirectory())
  return new Map(
    files.map((entry) => {
      const path = Buffer.concat([Buffer.from(entry.parentPath), Buffer.from('/'), entry.name])
      const link = entry.isSymbolicLink()
      const content = link ? readlinkSync(path, 'buffer') : readFileSync(path)
      const mode = link ? '120000' : lstatSync(path).mode & 0o100 ? '100755' : '100644'
      return [path.subarray(target.length + 1).toString('latin1'), `${mode} ${blobId(content)}`]
    }),
  )
}

const blobId = (content: Buffer) => createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

/** The files of a commit. */
export async function readCommit(repository: string, commit: string): Promise<Tree> {
  const { stdout } = await run('git', ['-C', repository, 'ls-tree', '-r', '-z', commit], {
    encoding: 'latin1',
    maxBuffer: 1 << 30,
  })
  const lines = stdout.split('\0').slice(0, -1)
  return new Map(
    lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t')).replace(' blob', '')]),
  )
}

/** At most ten, with their number. */
export function compareTrees(where: string, source: Tree, git: Tree): string[] {
  const differences: string[] = []
  for (const [path, file] of source) {
    const found = git.get(path)
    if (found === undefined) differences.push(`${where}: ${shown(path)} is missing in git`)
    else if (found !== file) differences.push(`${where}: ${shown(path)} differs`)
  }
  for (const path of git.keys()) if (!source.has(path)) differences.push(`${where}: ${shown(path)} is only in git`)
  return differences.length > 10
    ? [...differences.slice(0, 10), `${where}: ${differences.length - 10} more files differ`]
    : differences
}

const shown = (path: string) => Buffer.from(path, 'latin1').toString()

/** The commits that branches and tags reach. */
export async function reachable(repository: string): Promise<Set<string>> {
  const { stdout } = await run('git', ['-C', repository, 'rev-list', '--glob=refs/import/orig/*'], { maxBuffer: 1 << 30 })
  return new Set(stdout.split('\n').filter(Boolean))
}

/** Runs on each element, a few at a time, and returns the results in order. */
export async function inParallel<T, R>(all: T[], work: (one: T) => Promise<R>, width = 4): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let place = next++; place < all.length; place = next++) results[place] = await work(all[place] as T)
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}

/** So many elements, evenly distributed, with the last one. */
export function sampleOf<T>(all: T[], most: number): T[] {
  const step = Math.max(all.length / most, 1)
  return all.filter((_, place) => Math.floor(place / step) !== Math.floor((place - 1) / step) || place === all.length - 1)
}
