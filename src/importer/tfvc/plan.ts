import type { Change as Logged, Revision } from '#importer/staging/arrange/revisions.ts'
import type { Change, Item } from './changesets.ts'
import type { Names } from './names.ts'
import { below, folded, isAllowedPath, parentOf } from './paths.ts'

/** The effect of a changeset in git. */
export interface Plan {
  /** Deleted before anything is added. */
  deletes: string[]
  puts: { path: string; item: Item }[]
  changes: Logged[]
  files: Revision['files']
  /** The number of files with names that git refuses. */
  left_out: number
  /** Files that a merge explicitly left unchanged. */
  discarded: string[]
}

export interface PlanContext {
  /** Such as `$/Alpha`. */
  project: string
  names: Names
  /** Deleted folders and their last versions, by folded path. */
  lost: Map<string, Origin>
  /** Everything below a folder in a changeset. */
  listItems(path: string, version: number): Promise<Item[]>
}

interface Placed {
  change: Change
  /** Below the project. */
  path: string
  /** The source of a copied or renamed folder. */
  origin: Origin | undefined
}
export type Origin = NonNullable<Logged['from']>

/** Plans the changes of a changeset to the tree of a project, and updates `names`. */
export async function planChangeset(number: number, all: Change[], context: PlanContext): Promise<Plan> {
  const { project, names, lost, listItems } = context
  // Without a prototype, because a folder can have the name of an object property.
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
  // Removes the former paths of renamed items, including those that moved to another project.
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
  // A moved folder takes everything in it along. Most servers list each item; if one does not, the folder is listed.
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

/** Whether the folder gets its contents from elsewhere. */
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

/** The former path of a rename. The source of a merge or branch stays. */
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

/** The merges within the project: source folders and last changesets by target folder. */
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
