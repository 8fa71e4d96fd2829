import { Refusal } from '#platform/errors.ts'
import type { Scratch } from './scratch.ts'

/** How many paths of a conflict are told. */
const mostPaths = 1000

/** Why not. Histories with nothing in common have no paths to name, nor have folders that were renamed to two places. */
export interface Conflict {
  conflict: string[]
  reason: 'conflict' | 'unrelated'
}

/** A rebase reports the conflict of its first commit that has one. `nothing`: the base has all changes already. */
export type Merged = { sha: string } | { nothing: true } | Conflict

/** The tree that has what both sides changed since they parted, by git 2.38 or later: earlier ones cannot merge without a worktree. */
export async function joinTrees(scratch: Scratch, ours: string, theirs: string): Promise<{ tree: string } | Conflict> {
  const options = ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories']
  const args = ['merge-tree', ...options, '--end-of-options', ours, theirs]
  const { status, output } = await scratch.run(args, { expected: [0, 1, 129] })
  if (status === 129) throw new Refusal('unavailable', 'To merge, the server needs git 2.38 or later.')
  const [tree = '', ...paths] = output.toString().split('\0').filter(Boolean)
  if (status === 0) return { tree }
  // A file in the way of a folder is moved aside, to a name with that of the commit.
  const plain = new Set(paths.map((path) => path.replace(/~[0-9a-f]{40}(_\d+)?$/, '')))
  return { conflict: [...plain].slice(0, mostPaths), reason: 'conflict' }
}

/** Of each commit, in their order; of what is not there, none. */
export async function readTrees(scratch: Scratch, names: string[]): Promise<(string | undefined)[]> {
  const input = lines(names.map((name) => `${name}^{tree}`))
  const { output } = await scratch.run(['cat-file', '--batch-check=%(objectname)'], { input })
  return output
    .toString()
    .split('\n')
    .map((line) => /^[0-9a-f]{40}$/.exec(line)?.[0])
}

export const lines = (texts: string[]) => texts.map((text) => `${text}\n`).join('')
