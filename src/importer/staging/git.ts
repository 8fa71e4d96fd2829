import { type GitOptions, git } from '#git/git.ts'

/** Half of the longest string of Node, 512 MB. */
export const stageLimit = 1 << 28
const hour = 3_600_000

/**
 * Runs git for an import, in the process group of the worker. It reads more output than for a request; the limits of the import bound the
 * time.
 */
export const stageGit = (args: string[], options: GitOptions = {}): Promise<string> =>
  git(args, { detached: false, limit: stageLimit, timeout: 24 * hour, ...options })
