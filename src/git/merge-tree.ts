import { Refusal } from '#platform/errors.ts'
import type { Scratch } from './scratch.ts'

/** Limit of the listed paths. */
const mostPaths = 1000

/** Unrelated histories have no conflicting paths, and neither have folders that were renamed in two ways. */
export interface Conflict {
  conflict: string[]
  reason: 'conflict' | 'unrelated'
}

/** A rebase reports the conflict of its first commit that has one. `nothing`: the base has all changes already. */
export type Merged = { sha: string } | { nothing: true } | Conflict

/** The tree with the changes of both sides. Needs git 2.38: earlier versions cannot merge without a worktree. */
export async function joinTrees(scratch: Scratch, ours: string, theirs: string): Promise<{ tree: string } | Conflict> {
  const options = ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories']
  const args = ['merge-tree', ...options, '--end-of-options', ours, theirs]
  const { status, output } = await scratch.run(args, { expected: [0, 1, 129] })
  if (status === 129) throw new Refusal('unavailable', 'To merge, the server needs git 2.38 or later.')
  const [tree = '', ...paths] = output.toString().split('\0').filter(Boolean)
  if (status === 0) return { tree }
  // Git renames a file that conflicts with a folder: the new name ends with the commit.
  const plain = new Set(paths.map((path) => path.replace(/~[0-9a-f]{40}(_\d+)?$/, '')))
  return { conflict: [...plain].slice(0, mostPaths), reason: 'conflict' }
}

/** The trees of commits, in their order; undefined for missing ones. */
export async function readTrees(scratch: Scratch, names: string[]): Promise<(string | undefined)[]> {
  const input = lines(names.map((name) => `${name}^{tree}`))
  const { output } = await scratch.run(['cat-file', '--batch-check=%(objectname)'], { input })
  return output
    .toString()
    .split('\n')
    .map((line) => /^[0-9a-f]{40}$/.exec(line)?.[0])
}

export const lines = (texts: string[]) => texts.map((text) => `${text}\n`).join('')
