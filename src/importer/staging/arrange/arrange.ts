import { open } from 'node:fs/promises'
import { stageSettings } from '#git/fsync.ts'
import { runGit } from '#git/run-git.ts'
import type { Arranged } from '#importer/source.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { openRefNames } from '#importer/staging/ref-names.ts'
import { openPackWriter, type PackWriter } from '#importer/staging/rewrite/pack-writer.ts'
import { readMarks } from './marks.ts'
import { readRevisions } from './revisions.ts'
import { findRootChanges, type RootChange } from './root-changes.ts'
import { endLine, openRootHistories, type RootHistory } from './root-history.ts'
import { findRoots, type Root, type Strategy } from './roots.ts'

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
  signal: AbortSignal
}

/** A line of the record. */
export type Recorded = { root: string; commit: string } & ({ number: number } | { ref: string })

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
  const { lines, applyChange } = openRootHistories(roots, (commit) => pack.add('commit', commit))
  const record = await open(arranging.record, 'w', 0o600)
  try {
    let outside = 0
    let waiting: RootChange[] = []
    const settle = async () => {
      const trees = await findTrees(repository, signal, waiting, commitOf)
      const written = waiting.flatMap((changeOf, place): Recorded[] => {
        const commit = applyChange(changeOf, trees[place])
        return commit === undefined ? [] : [{ number: changeOf.revision.number, root: changeOf.root, commit }]
      })
      await record.write(written.map((line) => `${JSON.stringify(line)}\n`).join(''))
      await pack.room()
      waiting = []
    }
    for await (const revision of readRevisions(arranging.revisions)) {
      const found = findRootChanges(revision, roots)
      outside += found.outside
      waiting.push(...found.rootChanges)
      if (waiting.length >= batch) await settle()
    }
    await settle()
    const named = nameLines(lines, (root) => roots.get(root), arranging.default_branch, pack)
    await pack.end()
    await setRefs(repository, signal, await former, named.refs)
    await record.write(named.refs.map(({ ref, root, commit }) => `${JSON.stringify({ ref, root, commit })}\n`).join(''))
    const notes = { 'changes outside of branches and tags': outside, 'deleted branches and tags': named.deleted }
    return {
      ...(named.has_default && { default_branch: arranging.default_branch }),
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

async function findTrees(
  repository: string,
  signal: AbortSignal,
  rootChanges: RootChange[],
  commitOf: (number: number) => string,
) {
  if (rootChanges.length === 0) return []
  const names = rootChanges.map(({ revision, root }) => `${commitOf(revision.number)}:${root}\n`)
  const { output } = await runGit(repository, ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer'], {
    signal,
    detached: false,
    input: names.join(''),
    limit: stageLimit,
    whole: true,
  })
  return output
    .toString()
    .split('\n')
    .map((line) => /^([0-9a-f]{40}) tree$/.exec(line)?.[1])
}

interface Named {
  ref: string
  root: string
  commit: string
  /** The commit, or a tag object of it. */
  target: string
}

/** The trunk comes first, so that no other branch takes its name. */
function nameLines(
  lines: Map<string, RootHistory>,
  rootOf: (path: string) => Root | undefined,
  default_branch: string,
  pack: PackWriter,
) {
  const names = { branch: openRefNames(), tag: openRefNames() }
  const refs: Named[] = []
  let deleted = 0
  let has_default = false
  const all = [...lines.values()]
  const isFirst = ({ root }: RootHistory) => rootOf(root)?.kind === 'trunk'
  for (const line of [...all.filter(isFirst), ...all.filter((one) => !isFirst(one))]) {
    const root = rootOf(line.root)
    const commit = line.states.at(-1)?.commit
    if (!root || root.kind === 'former' || line.states.length === 0) continue
    if (commit === undefined) {
      deleted++
    } else if (root.kind === 'tag') {
      const name = names.tag.take(root.name)
      const target = pack.add('tag', describeTag(line, commit, name))
      refs.push({ ref: `${originalRefs}/tags/${name}`, root: line.root, commit, target })
    } else {
      has_default ||= root.kind === 'trunk'
      const name = names.branch.take(root.kind === 'trunk' ? default_branch : root.name)
      refs.push({ ref: `${originalRefs}/heads/${name}`, root: line.root, commit, target: commit })
    }
  }
  return { refs, deleted, has_default }
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
