import { isForbiddenPath } from '#importer/staging/paths.ts'
import { openNodeTable } from './node-table.ts'

/** The files of all manifests with their revisions. Paths are in Latin-1. */
export interface Files {
  readonly paths: string[]
  /** The number of file revisions. */
  readonly revisions: number
  path(path: string): number
  /** Returns the number of the file revision, from 0. */
  add(path: number, node: Buffer): number
  find(path: string, node: Buffer): number
  isForbidden(path: number): boolean
  /** Whether any path is both a file and a folder, at different times. */
  readonly haveBoth: boolean
  /** Whether this path is both a file and a folder, at different times. */
  isBoth(path: string): boolean
  /** The path and its parent folders, as far as they are both. */
  bothOf(path: string): string[]
}

/** No system opens longer paths, and storing all their parent folders would take much memory. */
const longest = 4096

export function openFiles(): Files {
  const numbers = new Map<string, number>()
  const paths: string[] = []
  const forbidden = new Set<number>()
  const folders = new Set<string>()
  const both = new Set<string>()
  const nodes = openNodeTable()
  return {
    paths,
    get revisions() {
      return nodes.size
    },
    path(path) {
      const known = numbers.get(path)
      if (known !== undefined) return known
      const number = paths.push(path) - 1
      numbers.set(path, number)
      if (path.length > longest || isForbiddenPath(path)) forbidden.add(number)
      if (folders.has(path)) both.add(path)
      for (const folder of foldersOf(path)) {
        folders.add(folder)
        if (numbers.has(folder)) both.add(folder)
      }
      return number
    },
    add: (path, node) => nodes.add(node, path),
    find(path, node) {
      const number = numbers.get(path)
      return number === undefined ? -1 : nodes.find(node, number)
    },
    get haveBoth() {
      return both.size > 0
    },
    isForbidden: (path) => forbidden.has(path),
    isBoth: (path) => both.has(path),
    bothOf: (path) => (both.size === 0 ? [] : [path, ...foldersOf(path)].filter((name) => both.has(name))),
  }
}

function* foldersOf(path: string): Generator<string> {
  if (path.length > longest) return
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at)
}
