import { open } from 'node:fs/promises'
import { stageSettings } from '#git/fsync.ts'
import { runGit } from '#git/run-git.ts'
import type { Notes } from '#importer/notes.ts'
import type { Arranged } from '#importer/source.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { openPackWriter, type PackWriter } from '#importer/staging/rewrite/pack-writer.ts'
import { readMarks } from './marks.ts'
import { type PlannedRef, planRefs } from './ref-plan.ts'
import { readRevisions } from './revisions.ts'
import { findRootChanges, type RootChange } from './root-changes.ts'
import { describeCommit, endLine, openRootHistories, type RootHistory } from './root-history.ts'
import { findRoots, type Strategy } from './roots.ts'
import { addRest, findTrees, isAliveFormer, openRestFilter } from './unassigned.ts'

export interface ArrangeOptions {
  repository: string
  /** The files of the revisions and of the marks of their commits. */
  revisions: string
  marks: string
  /** The file for the results, lines of JSON: the commit of each revision of a root, and the root of each ref. */
  record: string
  strategy: Strategy
  /** The name of the branch of the first root. */
  default_branch: string
  /** Whether deleted branches and tags become tags. */
  keep_deleted?: boolean
  /** The folder whose files outside of branches and tags become a branch. */
  project?: string
  signal: AbortSignal
}

/** A line of the record. */
export type Recorded = { root: string; commit: string } & ({ number: number; unassigned?: true } | RecordedRef)

interface RecordedRef {
  ref: string
  /** The revision that it has, if it is not the last one. */
  at?: number
  /** The folders that are not in it. */
  without?: string[]
}

const originalRefs = 'refs/import/orig'
/** Trees per git call. */
const batch = 4096

/** Makes branches and tags of revisions. The same revisions give the same commits. */
export async function arrange(arranging: ArrangeOptions): Promise<Arranged> {
  const { repository, signal, strategy } = arranging
  const former = listRefs(repository, signal)
  former.catch(() => {})
  const commitOf = await readMarks(arranging.marks)
  const roots = await findRoots(strategy, readRevisions(arranging.revisions), (number, path) =>
    listFolders(repository, signal, `${commitOf(number)}:${path}`),
  )
  const pack = openPackWriter(repository, signal)
  pack.add('tree', Buffer.alloc(0))
  const { lines, applyChange } = openRootHistories(roots, (commit) => pack.add('commit', describeCommit(commit)))
  const record = await open(arranging.record, 'w', 0o600)
  try {
    const isRest = 'claimed' in strategy
    let outside = 0
    let last = 0
    const inProject = arranging.project ? `${arranging.project}/` : ''
    const restNumbers = new Set<number>()
    const touched = new Set<number>()
    let waiting: RootChange[] = []
    const settle = async () => {
      const names = waiting.map(({ revision, root }) => `${commitOf(revision.number)}:${root}`)
      const trees = await findTrees(repository, signal, names)
      const written = waiting.flatMap((changeOf, place): Recorded[] => {
        // It removes a file that had the path of the root.
        const isFile = changeOf.removes && lines.get(changeOf.root)?.states.at(-1)?.commit === undefined
        if (isFile) restNumbers.add(changeOf.revision.number)
        const commit = applyChange(changeOf, trees[place])
        return commit === undefined ? [] : [{ number: changeOf.revision.number, root: changeOf.root, commit }]
      })
      await record.write(written.map((line) => `${JSON.stringify(line)}\n`).join(''))
      await pack.room()
      waiting = []
    }
    for await (const revision of readRevisions(arranging.revisions)) {
      const found = findRootChanges(revision, roots)
      last = revision.number
      for (const { folder, count } of found.outside) {
        if (!`${folder}/`.startsWith(inProject)) continue
        outside += count
        touched.add(last)
      }
      // A claimed folder may take the place of a file.
      if (found.rest || (isRest && found.rootChanges.some(({ removes }) => removes))) restNumbers.add(last)
      if (!isRest) waiting.push(...found.rootChanges)
      if (waiting.length >= batch) await settle()
    }
    await settle()
    const planned = planRefs(lines, roots, {
      default_branch: arranging.default_branch,
      keep_deleted: arranging.keep_deleted ?? false,
    })
    const refs = planned.refs.map((ref) => describeRef(ref, pack))
    const { project } = arranging
    if (project !== undefined) {
      for (const { root, states } of lines.values())
        if (isAliveFormer(root, roots, lines)) for (const { number } of states) restNumbers.add(number)
      const filter = openRestFilter(roots, lines)
      const { revisions } = arranging
      const commits = await addRest({
        repository,
        signal,
        revisions,
        commitOf,
        project,
        filter,
        numbers: restNumbers,
        touched,
        last,
        pack,
      })
      const { commit } = commits.at(-1) ?? {}
      if (commit !== undefined) {
        const lines = commits.map((each) => `${JSON.stringify({ ...each, root: project, unassigned: true })}\n`)
        await record.write(lines.join(''))
        outside = 0
        // In a repository of its own, it is the default branch.
        const ref = `${originalRefs}/heads/${isRest ? arranging.default_branch : planned.unassigned()}`
        refs.push({ ref, root: project, commit, target: commit, without: filter.roots })
      }
    }
    await pack.end()
    await setRefs(repository, signal, await former, refs)
    await record.write(refs.map(({ target: _, ...ref }) => `${JSON.stringify(ref)}\n`).join(''))
    const notes = {
      'changes outside of branches and tags': outside,
      'deleted branches and tags': planned.deleted,
    } satisfies Notes
    return {
      ...((planned.has_default || isRest) && { default_branch: arranging.default_branch }),
      notes: Object.fromEntries(Object.entries(notes).filter(([, count]) => count > 0)),
    }
  } finally {
    await record.close()
  }
}

async function listFolders(repository: string, signal: AbortSignal, tree: string): Promise<string[]> {
  const { status, output } = await runGit(repository, ['ls-tree', '-d', '-z', '--name-only', tree], {
    signal,
    detached: false,
    expected: [0, 128],
  })
  return status === 0 ? output.toString().split('\0').slice(0, -1) : []
}

interface Named extends RecordedRef {
  root: string
  commit: string
  /** The commit, or a tag object of it. */
  target: string
}

function describeRef({ kind, name, line, commit, at }: PlannedRef, pack: PackWriter): Named {
  const { root } = line
  const ref = `${originalRefs}/${kind === 'tag' ? 'tags' : 'heads'}/${name}`
  // The message of a tag is that of the last revision that made it, so a deleted one has none.
  if (at !== undefined) return { ref, root, commit, target: commit, at }
  return { ref, root, commit, target: kind === 'tag' ? pack.add('tag', describeTag(line, commit, name)) : commit }
}

function describeTag({ firstRevision }: RootHistory, commit: string, name: string) {
  const who = firstRevision ? `${firstRevision.name} <${firstRevision.email}> ${firstRevision.time}` : 'unknown <unknown> 0'
  const head = [`object ${commit}`, 'type commit', `tag ${name}`, `tagger ${who} +0000`, '']
  return Buffer.from(`${head.join('\n')}\n${endLine(firstRevision?.message ?? '')}`)
}

async function listRefs(repository: string, signal: AbortSignal): Promise<string[]> {
  const list = ['for-each-ref', '--format=%(refname)', originalRefs]
  const { output } = await runGit(repository, list, { signal, detached: false, limit: stageLimit, whole: true })
  return output.toString().split('\n').slice(0, -1)
}

/** Stale refs are deleted first, because a former name may now be a folder of refs. */
async function setRefs(repository: string, signal: AbortSignal, former: string[], refs: Named[]) {
  const wanted = new Set(refs.map(({ ref }) => ref))
  const stale = former.filter((ref) => !wanted.has(ref))
  const update = async (commands: string[]) => {
    if (commands.length > 0)
      await runGit(repository, [...stageSettings, 'update-ref', '--stdin'], { signal, detached: false, input: commands.join('') })
  }
  await update(stale.map((ref) => `delete ${ref}\n`))
  await update(refs.map(({ ref, target }) => `update ${ref} ${target}\n`))
}
