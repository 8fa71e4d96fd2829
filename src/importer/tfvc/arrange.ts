import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Arranged, Origin, Workspace } from '#importer/source.ts'
import { arrange as arrangeRevisions, type Recorded } from '#importer/staging/arrange/arrange.ts'
import { type Change, readRevisions } from '#importer/staging/arrange/revisions.ts'
import { cleanRefName } from '#importer/staging/ref-names.ts'
import { mainBranch, readBranches } from './branches.ts'
import { type Line, marksFile, revisionsFile } from './history.ts'
import { openMerges } from './merges.ts'

const recordFile = (folder: string) => join(folder, 'arranged.jsonl')

/** Makes a branch of each folder that is a branch in the source; if there are none, of the whole project. */
export async function arrange(_: Origin, workspace: Workspace): Promise<Arranged> {
  const { folder, repository, signal } = workspace
  const branches = readBranches(folder)
  const main = mainBranch(branches)
  const others = branches.filter((branch) => branch !== main).map(({ path }) => path)
  const roots = main ? [main.path, ...others] : ['']
  const former = main ? await formerRoots(revisionsFile(folder), roots) : []
  const all = [...roots, ...former]
  const classified = join(folder, 'judged.jsonl')
  const partial = await classifyMerges(workspace, all, classified)
  const { notes, ...arranged } = await arrangeRevisions({
    repository,
    revisions: classified,
    marks: marksFile(folder),
    record: recordFile(folder),
    strategy: { list: all.map((path) => ({ path, name: path })) },
    default_branch: main ? cleanRefName(main.path) : workspace.default_branch,
    signal,
  })
  return { ...arranged, notes: { ...notes, ...(partial > 0 && { 'merges of single changes': partial }) } }
}

/** The former paths of renamed branches. Renames are followed from the last to the first. */
async function formerRoots(file: string, roots: string[]): Promise<string[]> {
  const renames: { from: string; to: string }[] = []
  for await (const { changes } of readRevisions(file)) {
    const gone = new Set(changes.filter(({ action }) => action === 'delete').map(({ path }) => path))
    const isRename = ({ action, from }: Change) => action === 'add' && from !== undefined && gone.has(from.path)
    renames.push(...changes.filter(isRename).map(({ path, from }) => ({ from: from?.path ?? '', to: path })))
  }
  const known = [...roots]
  const touches = (path: string) => known.some((root) => `${path}/`.startsWith(`${root}/`) || root.startsWith(`${path}/`))
  for (const { from, to } of renames.reverse()) {
    for (const root of [...known]) {
      const path = root === to || root.startsWith(`${to}/`) ? from + root.slice(to.length) : undefined
      if (path && !touches(path)) known.push(path)
    }
  }
  return known.slice(roots.length)
}

/** Writes the revisions again with the merges that git can represent. Returns the number of other merges. */
async function classifyMerges(workspace: Workspace, roots: string[], file: string): Promise<number> {
  const merges = await openMerges(workspace, roots)
  await using output = await open(file, 'w', 0o600)
  let partial = 0
  for await (const line of readRevisions(revisionsFile(workspace.folder)) as AsyncIterable<Line>) {
    const { whole, single } = await merges.classify(line)
    partial += single
    const changes = line.changes.filter(({ merges: merged }) => merged === undefined)
    await output.write(`${JSON.stringify({ ...line, changes: [...changes, ...whole] })}\n`)
  }
  return partial
}

export function readArranged(folder: string): { ref: string; root: string }[] {
  const file = recordFile(folder)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return lines.flatMap((line): { ref: string; root: string }[] => {
    const recorded: Recorded = JSON.parse(line)
    return 'ref' in recorded ? [{ ref: recorded.ref, root: recorded.root }] : []
  })
}
