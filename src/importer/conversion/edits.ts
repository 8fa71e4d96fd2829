import { join } from 'node:path'
import { ImportFailure, type Kind, type Workspace } from '#importer/source.ts'
import type { Recorded } from '#importer/staging/arrange/arrange.ts'
import { readLines } from '#importer/staging/arrange/revisions.ts'
import type { HistoryEdits } from '#importer/staging/rewrite/edit-history.ts'
import { openPathPatterns } from '#importer/staging/rewrite/path-patterns.ts'
import type { EditOptions } from '#importer/steps.ts'
import { readPlan } from '#importer/subversion/plan.ts'
import { readExtent } from '#importer/tfvc/history.ts'
import { trimTrailing } from '#platform/trim.ts'

/** The edits of a converted history. Undefined if nothing is edited. */
export async function openEdits(options: EditOptions, vcs: Kind, workspace: Workspace): Promise<HistoryEdits | undefined> {
  const { include, exclude, since, source_id } = options
  const edits: HistoryEdits = {
    ...(include.length + exclude.length > 0 && { paths: openPathPatterns({ include, exclude }) }),
    ...(since && { isOld: await openBoundary(since, vcs, workspace.folder) }),
    ...(source_id && { trailer: await openTrailers(source_id, vcs, workspace) }),
  }
  return Object.keys(edits).length > 0 ? edits : undefined
}

async function openBoundary(since: NonNullable<EditOptions['since']>, vcs: Kind, folder: string) {
  if ('time' in since) return (_id: string, time: number) => time < since.time
  if (vcs !== 'subversion' && vcs !== 'tfvc')
    throw new ImportFailure(`Revisions of ${vcs} have no common numbers. Use --since with a date.`)
  const old = new Set<string>()
  for await (const { commit, number } of readRecord(folder)) if (number < since.revision) old.add(commit)
  return (id: string) => old.has(id)
}

/** The lines in which git-svn and git-tfs name the revision of a commit. */
async function openTrailers(url: string, vcs: Kind, workspace: Workspace) {
  const { folder } = workspace
  const describe =
    vcs === 'subversion' ? await describeSubversion(url, workspace) : vcs === 'tfvc' ? describeTfvc(folder) : undefined
  if (!describe) throw new ImportFailure('Only commits from Subversion and TFVC can name their revision. Leave out --metadata.')
  const lines = new Map<string, string>()
  for await (const recorded of readRecord(folder)) lines.set(recorded.commit, describe(recorded))
  return (id: string) => lines.get(id)
}

async function describeSubversion(url: string, workspace: Workspace) {
  const { uuid, path = '' } = (await readPlan(workspace)) ?? { uuid: '' }
  const address = trimTrailing(decodeURI(url), '/')
  const root = path !== '' && address.endsWith(`/${path}`) ? address.slice(0, -path.length - 1) : address
  return (recorded: Revised) =>
    `git-svn-id: ${[root, recorded.root].filter((part) => part !== '').join('/')}@${recorded.number} ${uuid}`
}

function describeTfvc(folder: string) {
  const { collection = '', project = '' } = readExtent(folder) ?? {}
  return ({ root, number }: Revised) =>
    `git-tfs-id: [${collection}]$/${[project, root].filter((part) => part !== '').join('/')};C${number}`
}

type Revised = Extract<Recorded, { number: number }>

async function* readRecord(folder: string): AsyncGenerator<Revised> {
  for await (const line of readLines(join(folder, 'arranged.jsonl'))) {
    const recorded: Recorded = JSON.parse(line)
    if ('number' in recorded) yield recorded
  }
}
