import { isForbiddenPath } from '#importer/staging/paths.ts'
import { openNodeTable } from './node-table.ts'

/** The files that manifests name, each with its revisions. Paths are bytes, kept as Latin-1. */
export interface Files {
  readonly paths: string[]
  /** How many revisions of files there are. */
  readonly revisions: number
  path(path: string): number
  /** The number of a revision of a file, from 0 on. */
  add(path: number, node: Buffer): number
  find(path: string, node: Buffer): number
  isForbidden(path: number): boolean
  /** Whether any path is that of a file somewhere in history, and that of a folder elsewhere. */
  readonly haveBoth: boolean
  /** Whether somewhere in history this path is that of a file, and somewhere that of a folder. */
  isBoth(path: string): boolean
  /** Of a path and the folders that it is in, those that are both. */
  bothOf(path: string): string[]
}

/** No system opens a longer one, and the folders of a path are many times its length. */
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
