import type { Change as Logged, Revision } from '#importer/staging/arrange/revisions.ts'
import type { Change, Item } from './changesets.ts'
import type { Names } from './names.ts'
import { below, folded, isAllowedPath, parentOf } from './paths.ts'

/** What a changeset comes to in git. */
export interface Plan {
  /** Paths that go, before anything comes. */
  deletes: string[]
  puts: { path: string; item: Item }[]
  changes: Logged[]
  files: Revision['files']
  /** How many files have names that git does not take. */
  left_out: number
  /** Files of which is said that a merge took nothing over. */
  discarded: string[]
}

export interface PlanContext {
  /** As `$/Alpha`. */
  project: string
  names: Names
  /** Folders that were deleted, and when they were last there; by their folded path. */
  lost: Map<string, Origin>
  /** Everything below a folder as it is in a changeset. */
  listItems(path: string, version: number): Promise<Item[]>
}

interface Placed {
  change: Change
  /** Below the project. */
  path: string
  /** Of what a folder is a copy, or was called before. */
  origin: Origin | undefined
}
export type Origin = NonNullable<Logged['from']>

/** Changes of one changeset to the tree of a project. What was there before is in `names`, and afterwards what is there then. */
export async function planChangeset(number: number, all: Change[], context: PlanContext): Promise<Plan> {
  const { project, names, lost, listItems } = context
  // A folder may be called as what every object has.
  const files: Plan['files'] = Object.create(null)
  const plan: Plan = { deletes: [], puts: [], changes: [], files, left_out: 0, discarded: [] }
  const inside = all.flatMap((change): Placed[] => {
    const path = below(project, change.item.path)
    return path ? [{ change, path, origin: originOf(number, change, path, context) }] : []
  })
  const taken = inside.filter(({ path }) => isAllowedPath(path))
  const stays = taken.filter(({ change }) => !isDelete(change))
  plan.left_out = inside.filter(({ change, path }) => !isDelete(change) && !change.item.folder && !isAllowedPath(path)).length

  const remove = (path: string) => {
    const isFolder = names.find(path)?.folder
    const spelled = names.remove(path)
    if (spelled === undefined) return
    if (isFolder) lost.set(folded(path), { number: number - 1, path: spelled })
    plan.deletes.push(spelled)
    plan.changes.push({ action: 'delete', path: spelled })
  }
  const gone = taken.filter(({ change }) => isDelete(change))
  for (const { path } of gone.sort((one, other) => one.path.length - other.path.length)) remove(path)
  const respelled = stays.filter(({ change, path }) => change.types.has('rename') && isRespelled(names, path))
  // What was renamed is no longer where it was, and what has taken its place comes below; also what left for another project.
  const vacated = all.filter((change) => !isDelete(change)).map((change) => below(project, vacatedBy(change) ?? ''))
  for (const path of [...vacated, ...respelled.map((placed) => placed.path)]) if (path) remove(path)

  const folders = stays.filter(({ change }) => change.item.folder).sort((one, other) => (one.path < other.path ? -1 : 1))
  plan.changes.push(...putFolders(folders, names))
  const put = (path: string, item: Item) => {
    const spelled = names.put(path, false)
    const folder = parentOf(spelled)
    files[folder] = (files[folder] ?? 0) + 1
    plan.puts.push({ path: spelled, item })
  }
  for (const { change, path } of stays) if (!change.item.folder) put(path, change.item)
  const kept = new Set(stays.map(({ path }) => folded(path)))
  // A folder moves with all that is in it. Servers list that one by one; where one does not, it is asked.
  const listed = new Set(stays.flatMap(({ path }) => foldersAbove(folded(path))))
  const silent = folders.filter(({ change, path }) => isMoving(change) && !listed.has(folded(path)))
  for (const { path } of topmost([...silent, ...respelled.filter(({ change }) => change.item.folder)])) {
    for (const item of await listItems(`${project}/${path}`, number)) {
      const at = below(project, item.path)
      if (!at || item.folder || kept.has(folded(at))) continue
      if (isAllowedPath(at)) put(at, item)
      else plan.left_out += 1
    }
  }
  plan.changes.push(...mergesOf(taken, project, names))
  const discarded = stays.filter(({ change }) => change.types.has('merge') && change.types.size === 1 && !change.item.folder)
  plan.discarded = discarded.map(({ path }) => names.find(path)?.path ?? path)
  return plan
}

function isDelete({ types }: Change) {
  return types.has('delete') || (types.has('sourceRename') && types.size === 1)
}

/** Whether contents come to a folder without being contents of their own. */
function isMoving({ types }: Change) {
  return types.has('rename') || types.has('branch') || types.has('undelete')
}

function originOf(number: number, change: Change, place: string, { project, names, lost }: PlanContext): Origin | undefined {
  if (!change.item.folder || isDelete(change)) return undefined
  if (change.types.has('undelete')) return lost.get(folded(place))
  const branched = change.merges.find(({ rename }) => !rename)
  const source = change.types.has('branch') ? (branched?.path ?? change.source) : vacatedBy(change)
  const path = below(project, source ?? '')
  if (path === undefined || !isAllowedPath(path)) return undefined
  const last = number - 1
  const upto = change.types.has('branch') && branched && branched.to > 0 ? Math.min(branched.to, last) : last
  return upto > 0 ? { number: upto, path: names.find(path)?.path ?? path } : undefined
}

/** What is no longer there after a rename. A merge also names what it came from, and that stays. */
function vacatedBy({ types, merges, source }: Change): string | undefined {
  if (!types.has('rename')) return undefined
  const renamed = merges.find(({ rename }) => rename)
  if (renamed) return renamed.path
  return types.has('merge') || types.has('branch') ? undefined : source
}

function isRespelled(names: Names, path: string) {
  const before = names.find(path)?.path
  return before !== undefined && lastOf(before) !== lastOf(path)
}

function lastOf(path: string) {
  return path.slice(path.lastIndexOf('/') + 1)
}

function putFolders(folders: Placed[], names: Names): Logged[] {
  const origins = new Map<string, Origin>()
  return folders.flatMap(({ change, path, origin }): Logged[] => {
    const isNew = !names.find(path)?.folder
    const spelled = names.put(path, true)
    if (!isNew && !isMoving(change)) return []
    if (!origin) return [{ action: 'add', path: spelled }]
    origins.set(spelled, origin)
    const above = origins.get(parentOf(spelled))
    const follows = above?.number === origin.number && `${above.path}/${lastOf(origin.path)}` === origin.path
    return follows ? [] : [{ action: 'add', path: spelled, from: origin }]
  })
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

function topmost(placed: Placed[]): Placed[] {
  const paths = new Set(placed.map(({ path }) => folded(path)))
  return placed.filter(({ path }) => !foldersAbove(folded(path)).some((above) => paths.has(above)))
}

/** Which folders things were merged into, from which ones, and how far; for what is in the project. */
function mergesOf(placed: Placed[], project: string, names: Names): Logged[] {
  const into = new Map<string, Map<string, number>>()
  for (const { change, path } of placed) {
    if (!change.types.has('merge')) continue
    const folder = change.item.folder ? path : parentOf(path)
    for (const merge of change.merges) {
      const source = merge.rename ? undefined : below(project, merge.path)
      if (source === undefined || merge.to === 0) continue
      const from = change.item.folder ? source : parentOf(source)
      const spelled = names.find(folder)?.path ?? folder
      const sources = into.get(spelled) ?? new Map<string, number>()
      into.set(spelled, sources)
      sources.set(from, Math.max(sources.get(from) ?? 0, merge.to))
    }
  }
  return [...into].map(([path, sources]) => ({
    action: 'change',
    path,
    merges: [...sources].map(([from, number]) => ({ path: names.find(from)?.path ?? from, number })),
  }))
}
