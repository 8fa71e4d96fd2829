import { type GitOptions, git } from '#git/git.ts'

/** The longest text that Node can hold has 512 MB. */
export const stageLimit = 1 << 28
const hour = 3_600_000

/**
 * Runs git for an import, in the process group of its worker, which ends with the import. The stage is read as a whole, so more is read than
 * for a request; the limits of an import bound the time.
 */
export const stageGit = (args: string[], options: GitOptions = {}): Promise<string> =>
  git(args, { detached: false, limit: stageLimit, patience: 24 * hour, ...options })
