import { type Reading, runGit } from './run-git.ts'

const readLimit = 1 << 27

const linesOf = async ({ path, ...bounds }: Reading, args: string[]) =>
  (await runGit(path, args, { ...bounds, limit: readLimit })).output.toString().split('\n').filter(Boolean)

/** The names of the branches, and of the heads of pull requests, that contain a commit. */
export function refsWith(reading: Reading, sha: string): Promise<string[]> {
  return linesOf(reading, ['for-each-ref', `--contains=${sha}`, '--format=%(refname)', 'refs/heads/', 'refs/pull/'])
}

/** The names of the branches whose last commit this is. */
export async function branchesAt(reading: Reading, sha: string): Promise<string[]> {
  return linesOf(reading, ['for-each-ref', `--points-at=${sha}`, '--format=%(refname)', 'refs/heads/'])
}

/**
 * The states of a branch that contain a commit, oldest first, at most `most`: the commits that the branch pointed to, as its first parents
 * tell. The first one is the commit itself, or the merge that brought it. Empty if the branch does not contain the commit.
 */
export async function statesWith(reading: Reading, sha: string, tip: string, most: number): Promise<string[]> {
  if (sha === tip) return [sha]
  const range = ['--end-of-options', tip, `^${sha}`]
  const [descendants, main] = await Promise.all([
    linesOf(reading, ['rev-list', '--ancestry-path', ...range]),
    linesOf(reading, ['rev-list', '--first-parent', '--parents', ...range]),
  ])
  const after = new Set(descendants)
  const states = main.map((line) => line.split(' ')).filter(([state = '']) => after.has(state))
  const direct = states.at(-1)?.[1] === sha ? [sha] : []
  return [...direct, ...states.map(([state = '']) => state).reverse()].slice(0, most)
}
