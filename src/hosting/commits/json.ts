import type { Changes } from '#git/changes.ts'
import { FileSchema, fileJson } from '#hosting/pulls/comparisons/json.ts'
import { Commit } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'

/** A single commit, with its changes. */
export const FullCommit = Type.Object(
  {
    ...Commit.properties,
    stats: Type.Object({ total: Type.Integer(), additions: Type.Integer(), deletions: Type.Integer() }),
    files: Type.Array(FileSchema),
  },
  { title: 'FullCommit' },
)

export function fullCommitJson(
  commit: Static<typeof Commit>,
  { additions, deletions, files }: Changes,
  repo: Repository,
  wire: Wire,
): Static<typeof FullCommit> {
  const ends = { base: commit.parents[0]?.sha ?? commit.sha, head: commit.sha }
  return {
    ...commit,
    stats: { total: additions + deletions, additions, deletions },
    files: files.map((file) => fileJson(file, ends, repo, wire)),
  }
}
