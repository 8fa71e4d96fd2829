import type { CommitObject } from '#git/objects.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import { commitJson } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Wire } from '#http/serialization.ts'
import type { Queryable } from '#platform/database.ts'

/** Commits as JSON, with the accounts of their authors. */
export async function writeCommits(db: Queryable, commits: CommitObject[], repo: Repository, wire: Wire) {
  const authors = await findAllAuthors(db, commits)
  return commits.map((commit, index) =>
    commitJson(commit, authors[index] ?? { author: undefined, committer: undefined }, repo, wire),
  )
}
