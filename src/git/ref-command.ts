/** The object id of a ref that does not exist. */
export const noObject = '0'.repeat(40)

/** A change of one ref, as git's protocol calls it. */
export interface Command {
  ref: string
  before: string
  after: string
  /** The number of the pull request that this command merges. */
  merges?: number
  /** The branch that this command and another one rename, without `refs/heads/`. */
  renames?: { from: string; to: string }
}
