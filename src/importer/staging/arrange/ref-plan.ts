import type { PathTree } from '#importer/staging/path-tree.ts'
import { openRefNames } from '#importer/staging/ref-names.ts'
import { endsOf, type RootHistory } from './root-history.ts'
import type { Root } from './roots.ts'

export interface PlannedRef {
  kind: 'branch' | 'tag'
  name: string
  line: RootHistory
  commit: string
  /** Set for a deleted branch or tag: the last revision that has it. */
  at?: number
}

export interface RefPlan {
  refs: PlannedRef[]
  /** The number of branches and tags that no longer exist and are not kept. */
  deleted: number
  has_default: boolean
  /** The name for the branch of everything else. */
  unassigned(): string
}

interface PlanOptions {
  default_branch: string
  /** Whether deleted branches and tags become tags. */
  keep_deleted: boolean
}

/** Names the branches and tags. The trunk comes first, so that no other branch takes its name. */
export function planRefs(lines: Map<string, RootHistory>, roots: PathTree<Root>, options: PlanOptions): RefPlan {
  const names = { branch: openRefNames(), tag: openRefNames() }
  const refs: PlannedRef[] = []
  let deleted = 0
  let has_default = false
  const isFirst = ({ root }: RootHistory) => roots.get(root)?.kind === 'trunk'
  const all = [...lines.values()].filter(({ root }) => roots.get(root)?.kind !== 'former')
  const sorted = [...all.filter(isFirst), ...all.filter((one) => !isFirst(one))]
  const nameOf = (line: RootHistory) => (isFirst(line) ? options.default_branch : (roots.get(line.root)?.name ?? ''))
  for (const line of sorted) {
    const kind = roots.get(line.root)?.kind === 'tag' ? 'tag' : 'branch'
    const commit = line.states.at(-1)?.commit
    if (commit !== undefined) {
      has_default ||= isFirst(line)
      refs.push({ kind, name: names[kind].take(nameOf(line)), line, commit })
    } else if (line.states.length > 0) deleted++
  }
  if (options.keep_deleted) {
    for (const line of sorted)
      for (const { commit, number } of endsOf(line)) {
        const name = names.tag.take(`deleted/${nameOf(line)}@${number - 1}`)
        refs.push({ kind: 'tag', name, line, commit, at: number - 1 })
      }
  }
  return { refs, deleted: options.keep_deleted ? 0 : deleted, has_default, unassigned: () => names.branch.take('unassigned') }
}
