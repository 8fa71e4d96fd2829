import type { Change, Revision } from '#importer/staging/arrange/revisions.ts'
import { isForbiddenPath } from '#importer/staging/paths.ts'
import type { LoggedPath, LoggedRevision } from './change-log.ts'

/** The folders of a revision with the numbers of their files. Immutable, because copies and earlier revisions share it. */
export interface FolderNode {
  files: number
  /** With the files of all folders in it. */
  total: number
  folders: ReadonlyMap<string, FolderNode>
}

/** A revision, as `arrange` reads it, with the tree after it. */
export interface ReplayedRevision {
  revision: Revision
  tree: FolderNode
  /** The changes of files, and of folders that have files. `folder` is where a file is, or the folder itself. */
  changed: { path: string; folder: string }[]
  /** The files with names that git refuses. */
  refused: string[]
}

const noFolders: ReadonlyMap<string, FolderNode> = new Map()
const empty: FolderNode = { files: 0, total: 0, folders: noFolders }
/** A copy from a folder that is not read: what is in it is unknown. */
const unknown: FolderNode = { files: 1, total: 1, folders: noFolders }

/** The revisions that copies are made from. Only their trees are kept. */
export async function findCopySources(log: AsyncIterable<LoggedRevision>): Promise<Set<number>> {
  const sources = new Set<number>()
  for await (const { paths } of log) for (const { from } of paths) if (from) sources.add(from.number)
  return sources
}

/** Applies the log from its beginning. */
export async function* replayLog(log: AsyncIterable<LoggedRevision>, sources: Set<number>): AsyncGenerator<ReplayedRevision> {
  /** By the revisions that copies are made from; a log has no revisions without changes. */
  const kept = new Map<number, FolderNode>()
  const wanted = [...sources].sort((one, other) => one - other)
  let next = 0
  let tree = empty
  const keepUntil = (number: number) => {
    for (; next < wanted.length && (wanted[next] as number) < number; next++) kept.set(wanted[next] as number, tree)
  }
  for await (const { number, paths } of log) {
    keepUntil(number)
    const before = tree
    const revision: Revision = { number, name: '', email: '', time: 0, message: '', changes: [], files: {} }
    const changed: ReplayedRevision['changed'] = []
    const refused: string[] = []
    const copies: string[] = []
    for (const logged of paths) {
      const { path, action } = logged
      if (isForbiddenPath(Buffer.from(path).toString('latin1')) && path !== '') {
        if (action !== 'D' && logged.kind !== 'dir') refused.push(path)
        continue
      }
      const source = logged.from && find(kept.get(logged.from.number) ?? before, logged.from.path)
      const isFolder = logged.kind === undefined ? isFolderWithoutKind(logged, tree, paths) : logged.kind === 'dir'
      const present = find(tree, path)
      if (
        action === 'D'
          ? present === undefined || present.total > 0
          : !isFolder || logged.unread || (logged.from && source?.total !== 0)
      )
        changed.push({ path, folder: isFolder || present ? path : parentOf(path) })
      tree = apply(tree, logged, isFolder, source)
      // A changed copy must be told from an unchanged one. Other changes of files keep the node, which takes less memory.
      if (action === 'M' && !isFolder && copies.some((copy) => path.startsWith(`${copy}/`)))
        tree = replaceFolder(tree, path.split('/').slice(0, -1), (node) => ({ ...node }))
      if (isFolder && logged.from) copies.push(path)
      recordChange(revision, logged, isFolder)
    }
    yield { revision, tree, changed, refused }
  }
}

/** Servers before Subversion 1.6 do not tell. */
function isFolderWithoutKind({ path, action, from }: LoggedPath, tree: FolderNode, paths: LoggedPath[]) {
  if (action === 'M' || action === 'D') return find(tree, path) !== undefined
  return (from && find(tree, from.path) !== undefined) || paths.some((other) => other.path.startsWith(`${path}/`))
}

function apply(tree: FolderNode, logged: LoggedPath, isFolder: boolean, source: FolderNode | undefined) {
  const { path, action, from, unread } = logged
  if (action === 'M' || path === '') return tree
  const names = path.split('/')
  const name = names.pop() ?? ''
  return replaceFolder(tree, names, (parent) => {
    const folders = new Map(parent.folders)
    const wasFolder = folders.delete(name)
    let { files } = parent
    if (!wasFolder && action !== 'A') files = Math.max(files - 1, 0)
    if (action !== 'D') {
      if (!isFolder) files++
      else folders.set(name, from || unread ? (source ?? unknown) : empty)
    }
    return count(files, folders)
  })
}

/** The same facts as in a dump. */
function recordChange(revision: Revision, { path, action, from, unread, mergeinfo }: LoggedPath, isFolder: boolean) {
  if (action === 'D' || isFolder) {
    const merged = mergeinfo !== undefined && { mergeinfo }
    revision.changes.push({ action: actions[action], path, ...(isFolder && from && { from }), ...merged })
    if (unread) revision.files[path] = 1
  } else {
    // It may replace a folder.
    if (action === 'R') revision.changes.push({ action: 'delete', path })
    const folder = parentOf(path)
    revision.files[folder] = (revision.files[folder] ?? 0) + 1
  }
}

const parentOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 0))

const actions: Record<LoggedPath['action'], Change['action']> = { A: 'add', M: 'change', R: 'replace', D: 'delete' }

/** Folders on the way that are not known are made: the log begins after them. */
function replaceFolder(node: FolderNode, [name, ...rest]: string[], change: (node: FolderNode) => FolderNode): FolderNode {
  if (name === undefined) return change(node)
  const folders = new Map(node.folders)
  folders.set(name, replaceFolder(node.folders.get(name) ?? empty, rest, change))
  return count(node.files, folders)
}

function count(files: number, folders: ReadonlyMap<string, FolderNode>): FolderNode {
  let total = files
  for (const folder of folders.values()) total += folder.total
  return { files, total, folders }
}

export function find(tree: FolderNode, path: string): FolderNode | undefined {
  let node: FolderNode | undefined = tree
  for (const name of path === '' ? [] : path.split('/')) node = node?.folders.get(name)
  return node
}
