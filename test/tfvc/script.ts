/** A TFVC history, written act by act, with the state after each. */

export interface Person {
  id: string
  displayName: string
  uniqueName: string
}

export interface Item {
  /** In its spelling; null is a folder. */
  path: string
  data: Buffer | null
  version: number
  symlink: boolean
}

export interface Change {
  type: string
  path: string
  source?: string
  merges?: { serverItem: string; versionFrom: number; versionTo: number; isRename: boolean }[]
  /** The item after the changeset; for a deleted one, before it. */
  item: Item
}

export interface Changeset {
  id: number
  author: Person
  date: string
  comment: string
  changes: Change[]
  /** By path in upper case, because TFVC ignores case. */
  tree: Map<string, Item>
}

export interface BranchObject {
  path: string
  parent?: string
  created: number
  deleted: boolean
}

export const normal: Person = {
  id: 'd6245f20-2af8-44f4-9451-8107cb2767db',
  displayName: 'Normal Paulk',
  uniqueName: 'FABRIKAM\\normal',
}
export const chuck: Person = {
  id: '8c8c7d32-6b1b-47f4-b2e9-30b477b5ab3d',
  displayName: 'Chuck Reinhart',
  uniqueName: 'chuck@fabrikam.example',
}
export const juergen: Person = {
  id: '8c8c7d32-6b1b-47f4-b2e9-30b477b5ab3e',
  displayName: 'Jürgen <Müller>',
  uniqueName: 'FABRIKAM\\jm',
}

export interface Script {
  changesets: Changeset[]
  branches: BranchObject[]
  checkIn(comment: string, work: (desk: Desk) => void, by?: Person): Script
  /** Files of a folder after a changeset, by their relative path. */
  filesOf(folder: string, id: number): Map<string, Item>
}

interface RenameOptions {
  edit?: string
  /** False for a server that does not list the contents of a folder, */
  listed?: boolean
  /** nor deleted items, */
  sources?: boolean
  /** nor former names. */
  origin?: boolean
}

interface MergeOptions {
  upto?: number
  /** Only these files. */
  only?: string[]
  /** Marks differing files as merged without changing them. */
  keep?: boolean
}

export const key = (path: string) => path.toUpperCase()

export function openScript(): Script {
  const changesets: Changeset[] = []
  const branches: BranchObject[] = []
  const script: Script = {
    changesets,
    branches,
    checkIn(comment, work, by = normal) {
      const id = changesets.length + 1
      const tree = new Map(changesets.at(-1)?.tree ?? [[key('$/'), { path: '$/', data: null, version: 1, symlink: false }]])
      const changes: Change[] = []
      work(openDesk(openActs(id, tree, changes, changesets, branches)))
      const date = new Date(Date.UTC(2014, 2, 19, 17, 23, 59, 697) + id * 3_600_000).toISOString()
      changesets.push({ id, author: by, date, comment, changes, tree })
      return script
    },
    filesOf(folder, id) {
      const tree = changesets[id - 1]?.tree ?? new Map<string, Item>()
      const inside = below(tree, folder).filter(({ data }) => data)
      return new Map(inside.map((item) => [item.path.slice(folder.length + 1), item]))
    },
  }
  return script
}

/** The item and everything in it, sorted by path. */
export function below(tree: Map<string, Item>, path: string): Item[] {
  const start = key(path === '$/' ? '$' : path)
  const inside = [...tree].filter(([at]) => at === key(path) || at.startsWith(`${start}/`))
  return inside.map(([, item]) => item).sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** The pending changes of a changeset. Paths are those of the server. Each act returns the desk. */
export type Desk = { [Name in keyof Acts]: (...values: Parameters<Acts[Name]>) => Desk }
type Acts = ReturnType<typeof openActs>

function openDesk(acts: Acts): Desk {
  const chained = Object.entries(acts).map(([name, act]) => {
    const run = act as (...values: never[]) => void
    return [name, (...values: never[]) => run(...values) ?? desk]
  })
  const desk: Desk = Object.fromEntries(chained)
  return desk
}

function openActs(id: number, tree: Map<string, Item>, changes: Change[], changesets: Changeset[], branches: BranchObject[]) {
  /** Folders keep their first spelling. */
  function written(path: string): string {
    const parts = path.split('/')
    let above = '$'
    for (const [index, part] of parts.slice(1, -1).entries()) {
      const at = `${above}/${part}`
      const found = tree.get(key(at))
      if (!found) place({ path: at, data: null, version: id, symlink: false }, 'add')
      above = found?.path ?? at
      if (index > 1000) throw new Error('too deep')
    }
    const last = parts.at(-1) ?? ''
    return `${above}/${last}`
  }

  function place(item: Item, type: string, more: Pick<Change, 'source' | 'merges'> = {}) {
    tree.set(key(item.path), item)
    changes.push({ type, path: item.path, item, ...more })
  }

  function found(path: string): Item {
    const item = tree.get(key(path))
    if (!item) throw new Error(`${path} is not there`)
    return item
  }

  const acts = {
    folder(path: string) {
      place({ path: written(path), data: null, version: id, symlink: false }, 'add')
    },
    put(path: string, data: string | Buffer, type?: string) {
      const before = tree.get(key(path))
      const at = before ? before.path : written(path)
      const item = { path: at, data: Buffer.from(data), version: id, symlink: before?.symlink ?? false }
      tree.set(key(at), item)
      // The typed path; the server keeps its own spelling.
      changes.push({ type: type ?? (before ? 'edit' : 'add, edit, encoding'), path, item })
    },
    link(path: string, target: string) {
      place({ path: written(path), data: Buffer.from(target), version: id, symlink: true }, 'add, edit, encoding, property')
    },
    remove(path: string, type = 'delete') {
      for (const item of below(tree, path)) {
        tree.delete(key(item.path))
        changes.push({ type, path: item.path, item })
      }
      for (const branch of branches) if (key(branch.path) === key(path)) branch.deleted = true
    },
    rename(from: string, to: string, { edit, listed = true, sources = true, origin = true }: RenameOptions = {}) {
      const moved = below(tree, from)
      for (const item of moved) tree.delete(key(item.path))
      const root = written(to)
      for (const [index, item] of moved.entries()) {
        const path = root + item.path.slice(from.length)
        const data = edit !== undefined && item.data ? Buffer.from(edit) : item.data
        tree.set(key(path), { ...item, path, data, version: id })
        if (!listed && index > 0) continue
        const type = edit === undefined ? 'rename' : 'edit, rename'
        changes.push({ type, path, ...(origin && { source: item.path }), item: { ...item, path, data, version: id } })
        // If only the case changes, the path is the same.
        if (sources && key(path) !== key(item.path)) changes.push({ type: 'delete, sourceRename', path: item.path, item })
      }
      for (const branch of branches) {
        if (key(branch.path) === key(from)) branch.path = root
        if (branch.parent && key(branch.parent) === key(from)) branch.parent = root
      }
    },
    /** Two files swap their names. */
    swap(one: string, other: string) {
      const [first, second] = [found(one), found(other)]
      place({ ...second, path: first.path, version: id }, 'rename', { source: second.path })
      place({ ...first, path: second.path, version: id }, 'rename', { source: first.path })
    },
    undelete(path: string) {
      const last = changesets.findLast(({ tree: before }) => before.has(key(path)))
      if (!last) throw new Error(`${path} was never there`)
      for (const item of below(last.tree, path)) place({ ...item, version: id }, 'undelete')
      for (const branch of branches) if (key(branch.path) === key(path)) branch.deleted = false
    },
    /** Also makes it a branch, unless `object` is false. */
    branch(from: string, to: string, { at = id - 1, object = true, listed = true } = {}) {
      const source = changesets[at - 1]?.tree ?? new Map<string, Item>()
      const root = written(to)
      for (const [index, item] of below(source, from).entries()) {
        const path = root + item.path.slice(from.length)
        const merges = [{ serverItem: item.path, versionFrom: 1, versionTo: at, isRename: false }]
        if (listed || index === 0) place({ ...item, path, version: id }, 'branch', { source: item.path, merges })
        else tree.set(key(path), { ...item, path, version: id })
      }
      if (object) branches.push({ path: root, parent: from, created: id, deleted: false })
      if (object && !branches.some(({ path }) => key(path) === key(from))) {
        branches.push({ path: from, created: id, deleted: false })
      }
    },
    /** Takes over the differences up to a changeset. */
    merge(from: string, to: string, { upto = id - 1, only, keep = false }: MergeOptions = {}) {
      const source = changesets[upto - 1]?.tree ?? new Map<string, Item>()
      const isWanted = (path: string) => !only || only.includes(path.slice(from.length + 1))
      for (const item of below(source, from).filter(({ path, data }) => data && isWanted(path))) {
        const path = to + item.path.slice(from.length)
        const before = tree.get(key(path))
        if (before?.data && item.data && before.data.equals(item.data)) continue
        const merges = [{ serverItem: item.path, versionFrom: item.version, versionTo: upto, isRename: false }]
        const more = { source: item.path, merges }
        if (before && keep) place({ ...before, version: id }, 'merge', more)
        else place({ ...item, path: before?.path ?? written(path), version: id }, before ? 'edit, merge' : 'merge, branch', more)
      }
      for (const item of below(tree, to).filter(({ path, data }) => data && isWanted(from + path.slice(to.length)))) {
        const there = from + item.path.slice(to.length)
        const was = changesets.some(({ tree: before }) => before.has(key(there)))
        if (source.has(key(there)) || !was) continue
        tree.delete(key(item.path))
        const merges = [{ serverItem: there, versionFrom: upto, versionTo: upto, isRename: false }]
        changes.push({ type: 'delete, merge', path: item.path, item, source: there, merges })
      }
    },
    /** Restores the state after a changeset. */
    rollback(path: string, to: number) {
      const before = changesets[to - 1]?.tree.get(key(path))
      if (before) place({ ...before, version: id }, tree.has(key(path)) ? 'edit, rollback' : 'undelete, rollback')
      else acts.remove(path, 'delete, rollback')
    },
    property: (path: string) => place({ ...found(path), version: id }, 'property'),
  }
  return acts
}
