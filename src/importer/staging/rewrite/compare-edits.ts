import { streamGit } from '#git/run-git.ts'
import type { Verification } from '#importer/source.ts'
import { splitAt } from '#importer/staging/arrange/revisions.ts'
import { emptyTree } from '#importer/staging/arrange/root-history.ts'
import type { PathSelection } from './path-patterns.ts'

/** A commit before and after the edits. */
export interface EditedCommit {
  id: string
  /** Its tree before and after. */
  tree: string
  filtered: string
  /** Whether a branch or a tag ends with it. */
  tip: boolean
}

interface EditComparison {
  signal: AbortSignal
  paths: PathSelection | undefined
  commits: EditedCommit[]
  /** The commits that the edited history may have, and those that its refs name. */
  allowed: Set<string>
  refs: string[]
  /** Whether all commits are compared, and not a sample and the tips. */
  all: boolean
}

export type ComparedEdits = Required<Pick<Verification, 'mismatches'>> & { commits: number }

const sample = 12
const maxMismatches = 100

/**
 * Checks that the edited history has exactly the files and commits that were asked for. The commits before the edits are compared with the
 * source, so both together compare the result with the source. Git lists the differences: the code that made the trees has no part in it.
 */
export async function compareEdits(repository: string, comparison: EditComparison): Promise<ComparedEdits> {
  const { signal, paths, commits, allowed, refs, all } = comparison
  const step = all ? 1 : Math.max(Math.ceil(commits.length / sample), 1)
  const chosen = commits.filter(({ tip }, place) => tip || place % step === 0)
  const mismatches: ComparedEdits['mismatches'] = []
  const report = (id: string, path: string, what: string) => {
    if (mismatches.length < maxMismatches) mismatches.push({ where: `commit ${id.slice(0, 12)}`, path, what })
  }
  if (paths) {
    const nameOf = (place: number) => chosen[place]?.id ?? ''
    const edited = chosen.map(({ tree, filtered }): Pair => [tree, filtered])
    for await (const { place, status, path } of diffTrees(repository, edited, signal)) {
      if (status !== 'D') report(nameOf(place), path, 'has another content after --include and --exclude')
      else if (paths.keepsFile(path)) report(nameOf(place), path, 'is missing after --include and --exclude')
    }
    // From one tree to the next, so that each file is listed when it appears.
    const appearing = chosen.map(({ filtered }, place): Pair => [chosen[place - 1]?.filtered ?? emptyTree, filtered])
    for await (const { place, status, path } of diffTrees(repository, appearing, signal))
      if (status !== 'D' && !paths.keepsFile(path)) report(nameOf(place), path, 'is there in spite of --include and --exclude')
  }
  if (refs.length > 0)
    for await (const id of listCommits(repository, refs, signal))
      if (!allowed.has(id)) report(id, '', 'is there in spite of --since')
  return { commits: chosen.length, mismatches }
}

type Pair = [before: string, after: string]

async function* diffTrees(repository: string, pairs: Pair[], signal: AbortSignal) {
  const input = pairs.map((pair) => `${pair.join(' ')}\n`).join('')
  const args = ['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-renames']
  let place = -1
  let status = ''
  for await (const token of splitAt(streamGit(repository, args, { signal, detached: false, input }), 0)) {
    // A line with the names of the trees comes before the changes of each pair, also if there are none.
    const headers = status === '' ? (/^(?:[0-9a-f]{40} [0-9a-f]{40}\n)+/.exec(token)?.[0] ?? '') : ''
    place += headers.length / 82
    if (status === '') status = token.slice(headers.length).at(-1) ?? ''
    else {
      yield { place, status, path: token }
      status = ''
    }
  }
}

const listCommits = (repository: string, refs: string[], signal: AbortSignal) =>
  splitAt(streamGit(repository, ['rev-list', '--stdin'], { signal, detached: false, input: `${refs.join('\n')}\n` }), 10)
