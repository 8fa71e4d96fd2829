import type { Network, Origin, Verification, Workspace } from '#importer/source.ts'
import type { Recorded } from '#importer/staging/arrange/arrange.ts'
import { readLines } from '#importer/staging/arrange/revisions.ts'
import { recordFile } from './checkpoint.ts'
import { compareLog } from './compare-log.ts'
import { openComparison } from './compare-trees.ts'
import { type Connection, connectTo } from './connection.ts'
import { inspectDumpTree } from './dump-tree.ts'
import { openContents } from './git-contents.ts'
import { inspectByDav } from './inspect-dav.ts'
import { inspectByDump } from './inspect-dump.ts'
import { inspectByRaSvn } from './inspect-ra-svn.ts'
import type { Inspector, MadeFiles } from './inspector.ts'
import { settlePlan } from './plan.ts'
import type { Repository } from './projects.ts'

/** The number of revisions in a sample. */
const sample = 12

/** Compares the folders of the server with trees in git, by checksums. */
export async function verify(origin: Origin, workspace: Workspace, all: boolean): Promise<Verification> {
  const { folder, repository, signal } = workspace
  const connection = await connectTo(origin, workspace, folder)
  const settled = await settlePlan(origin, connection, workspace)
  await using inspector = await openInspector(origin, settled.repository, connection, workspace, settled.plan)
  await using contents = openContents(repository, signal)
  const result: Verification = { branches: 0, tags: 0, revisions: 0, files: 0, mismatches: [] }
  const comparison = openComparison(inspector, contents, signal, result, settled.plan)
  const compare = (where: string, { root: path, commit }: Recorded, number: number, tip: boolean, without?: Set<string>) =>
    comparison.add({ where, path, inner: '', number, tree: `${commit}^{tree}`, tip, ...(without && { without }) })

  const record = recordFile(folder)
  let commits = 0
  /** The folders that are not in the branch of everything else. */
  let others: Set<string> | undefined
  for await (const line of readLines(record)) {
    const recorded: Recorded = JSON.parse(line)
    if ('number' in recorded) commits++
    else {
      result[recorded.ref.startsWith('refs/import/orig/heads/') ? 'branches' : 'tags']++
      const { ref, at = settled.plan.head, without } = recorded
      if (without) others = new Set(without)
      await compare(ref.replace(/^refs\/import\/orig\//, ''), recorded, at, true, without && others)
    }
  }
  // Branches and tags first, so that mismatches name them rather than revisions.
  await comparison.settle()
  const step = all ? 1 : Math.max(Math.ceil(commits / sample), 1)
  async function* sampled() {
    let place = 0
    for await (const line of readLines(record)) {
      const recorded: Recorded = JSON.parse(line)
      if ('number' in recorded && place++ % step === 0) yield recorded
    }
  }
  for await (const recorded of sampled()) {
    result.revisions++
    const where = `revision ${recorded.number} of ${recorded.root || 'the repository'}`
    await compare(where, recorded, recorded.number, false, recorded.unassigned && others)
  }
  await comparison.settle()
  await compareLog({ ...settled, connection }, { repository, signal, plan: settled.plan, commits: sampled, result })
  return result
}

/** Uses the fastest method that the server supports. The last one reads all contents and always works. */
export async function openInspector(
  origin: Origin,
  repository: Repository,
  connection: Connection,
  network: Network,
  made: MadeFiles = {},
): Promise<Inspector> {
  if (connection.file) return inspectDumpTree(connection.file.tree, made.ignores)
  const quick = repository.root.startsWith('svn:')
    ? await inspectByRaSvn(origin, repository, network, made)
    : await inspectByDav(origin, repository, network, made)
  return quick ?? inspectByDump(repository, connection, made.ignores)
}
