import type { Author, Origin, Preview, Workspace } from '#importer/source.ts'
import { openLeftOut } from '#importer/staging/arrange/left-out.ts'
import type { Change } from '#importer/staging/arrange/revisions.ts'
import { createPathTree } from '#importer/staging/path-tree.ts'
import { openRefNames } from '#importer/staging/ref-names.ts'
import { findRenames, followRenames, type Rename } from './arrange.ts'
import { authorOf } from './authors.ts'
import { type Branch, listBranches, mainBranch } from './branches.ts'
import { lastChangeset, listChanges, listChangesets } from './changesets.ts'
import { openClient } from './client.ts'
import { listItems } from './items.ts'
import { locateProject } from './locate.ts'
import { openNames } from './names.ts'
import { below, folded, isAllowedPath } from './paths.ts'
import { type Origin as CopyOrigin, planChangeset } from './plan.ts'
import { readAhead } from './read-ahead.ts'

const changesetsAhead = 8

/** Which changesets changed a path. */
interface Touched {
  numbers: [first: number, last: number]
  count: number
}

/** Reads the changesets and the lists of their changes, and no contents. Keeps nothing. */
export async function preview(origin: Origin, workspace: Workspace): Promise<Preview> {
  const { collection, project } = await locateProject(origin, workspace)
  const client = openClient(collection, origin, workspace)
  const until = await lastChangeset(client, project)
  const names = openNames()
  const lost = new Map<string, CopyOrigin>()
  const context = {
    ...{ project: `$/${project}`, names, lost },
    listItems: (path: string, version: number) => listItems(client, path, version),
  }
  const authors = new Map<string, Author>()
  const touched = new Map<string, Touched>()
  const sources = new Set<string>()
  const renames: Rename[] = []
  const left = openLeftOut()
  let commit_count = 0
  const listed = listChangesets(client, project, 0, until)
  const changed = readAhead(listed, { width: changesetsAhead }, async (changeset) => ({
    changeset,
    changes: await listChanges(client, changeset.id),
  }))
  for await (const { changeset, changes } of changed) {
    const { id } = changeset
    const author = authorOf(changeset.author)
    authors.set(author.remote_id, author)
    for (const { item } of changes) {
      const path = below(`$/${project}`, item.path)
      if (path && !item.folder && !isAllowedPath(path)) left.add(path, 'a name that git refuses', id)
    }
    const plan = await planChangeset(id, changes, context)
    for (const path of new Set([...plan.deletes, ...plan.puts.map((put) => put.path)])) touch(touched, path, id)
    for (const path of sourcesOf(plan.changes)) sources.add(path)
    renames.push(...findRenames(plan.changes))
    commit_count++
    workspace.onProgress({ percent: Math.floor((id * 100) / until), commit_count })
  }
  const spell = (path: string) => names.find(path)?.path ?? lost.get(folded(path))?.path ?? path
  const known = (await listBranches(client, project)).map((branch) => ({ ...branch, path: spell(branch.path) }))
  const main = mainBranch(known)
  const isAlive = ({ path, deleted }: Branch) => !deleted && names.find(path)?.folder === true
  const alive = main ? [main, ...known.filter((branch) => branch !== main && isAlive(branch))] : []
  const roots = createPathTree<boolean>()
  for (const branch of known) roots.set(branch.path, alive.includes(branch) || isUsed(branch.path, sources))
  for (const path of followRenames(
    renames,
    known.map(({ path }) => path),
  ))
    roots.set(path, true)
  for (const [path, { numbers, count }] of main ? touched : []) {
    const root = roots.nearest(path)
    if (root !== undefined && roots.get(root)) continue
    const reason = root === undefined ? 'outside of branches and tags' : 'deleted'
    // The first and the last one, with all changes at the last.
    left.add(root ?? path, reason, numbers[0], 0)
    left.add(root ?? path, reason, numbers[1], count)
  }
  const refNames = openRefNames()
  const branches = main
    ? alive.map(({ path }) => ({ name: refNames.take(path), path }))
    : [{ name: workspace.default_branch, path: '' }]
  return { commit_count, branches, tags: [], left_out: left.list(), authors: [...authors.values()] }
}

function touch(touched: Map<string, Touched>, path: string, number: number) {
  const known = touched.get(path)
  if (!known) touched.set(path, { numbers: [number, number], count: 1 })
  else {
    known.numbers[1] = number
    known.count++
  }
}

/** The folders that were copied or merged from, so that their commits are in other branches. */
const sourcesOf = (changes: Change[]) =>
  changes.flatMap(({ from, merges = [] }) => [...(from ? [from.path] : []), ...merges.map(({ path }) => path)])

const isUsed = (root: string, sources: Set<string>) =>
  sources.has(root) || [...sources].some((path) => path.startsWith(`${root}/`))
