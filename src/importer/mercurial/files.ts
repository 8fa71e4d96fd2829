import { isForbiddenPath } from '#importer/staging/paths.ts'
import { openNodeTable } from './node-table.ts'

/** No system opens longer paths, and storing all their parent folders would take much memory. */
const longest = 4096

export function openFiles() {
  const numbers = new Map<string, number>()
  const paths: string[] = []
  const forbidden = new Set<number>()
  const folders = new Set<string>()
  const both = new Set<string>()
  const nodes = openNodeTable()
  return {
    paths,
    /** The number of file revisions. */
    get revisions() {
      return nodes.size
    },
    path(path: string) {
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
    /** Returns the number of the file revision, from 0. */
    add: (path: number, node: Buffer) => nodes.add(node, path),
    find(path: string, node: Buffer) {
      const number = numbers.get(path)
      return number === undefined ? -1 : nodes.find(node, number)
    },
    /** Whether any path is both a file and a folder, at different times. */
    get haveBoth() {
      return both.size > 0
    },
    isForbidden: (path: number) => forbidden.has(path),
    /** Whether this path is both a file and a folder, at different times. */
    isBoth: (path: string) => both.has(path),
    /** The path and its parent folders, as far as they are both. */
    bothOf: (path: string) => (both.size === 0 ? [] : [path, ...foldersOf(path)].filter((name) => both.has(name))),
  }
}

/** The files of all manifests with their revisions. Paths are in Latin-1. */
export type Files = ReturnType<typeof openFiles>

function* foldersOf(path: string): Generator<string> {
  if (path.length > longest) return
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at)
}
