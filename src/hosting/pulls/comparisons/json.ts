import type { ChangedFile } from '#git/changes.ts'
import type { Comparison } from '#git/compare.ts'
import { Commit, encodePath } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'

export const FileSchema = Type.Object(
  {
    sha: Type.String(),
    filename: Type.String(),
    status: Type.String(),
    additions: Type.Integer(),
    deletions: Type.Integer(),
    changes: Type.Integer(),
    blob_url: Address,
    raw_url: Address,
    contents_url: Address,
    patch: Type.Optional(Type.String()),
    previous_filename: Type.Optional(Type.String()),
  },
  { title: 'DiffEntry' },
)

/** A removed file links to its version before the removal. */
export function fileJson(
  file: ChangedFile,
  { base, head }: { base: string; head: string },
  repo: Repository,
  wire: Wire,
): Static<typeof FileSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const [at, path] = [file.status === 'removed' ? base : head, encodePath(file.filename)]
  return {
    sha: file.sha,
    filename: file.filename,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.changes,
    blob_url: `${wire.web}/${full_name}/blob/${at}/${path}`,
    raw_url: `${wire.web}/${full_name}/raw/${at}/${path}`,
    contents_url: `${wire.api}/repos/${full_name}/contents/${path}?ref=${at}`,
    ...(file.patch !== undefined && { patch: file.patch }),
    ...(file.previous_filename !== undefined && { previous_filename: file.previous_filename }),
  }
}

export const ComparisonSchema = Type.Object(
  {
    url: Address,
    html_url: Address,
    permalink_url: Address,
    diff_url: Address,
    patch_url: Address,
    base_commit: Commit,
    merge_base_commit: Commit,
    status: Type.String(),
    ahead_by: Type.Integer(),
    behind_by: Type.Integer(),
    total_commits: Type.Integer(),
    commits: Type.Array(Commit),
    files: Type.Array(FileSchema),
  },
  { title: 'CommitComparison' },
)

type Written = Static<typeof Commit>

/** One side of a comparison. `text` is how the request named it. */
export interface End {
  repo: Repository
  name: string
  text: string
}

/** Every link leads to the repository that has the commit or file. */
export function comparisonJson(
  comparison: Comparison,
  { base, head }: { base: End; head: End },
  commits: { base: Written; merge_base: Written; shown: Written[] },
  repo: Repository,
  wire: Wire,
): Static<typeof ComparisonSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const names = `${encodePath(base.text)}...${encodePath(head.text)}`
  const html_url = `${wire.web}/${full_name}/compare/${names}`
  const exact = (end: End, sha: string) => {
    const name = end.repo.name === repo.name ? '' : `${end.repo.name}:`
    return `${end.repo.owner_login}:${name}${sha.slice(0, 12)}`
  }
  return {
    url: `${wire.api}/repos/${full_name}/compare/${names}`,
    html_url,
    permalink_url: `${wire.web}/${full_name}/compare/${exact(base, comparison.base)}...${exact(head, comparison.head)}`,
    diff_url: `${html_url}.diff`,
    patch_url: `${html_url}.patch`,
    base_commit: commits.base,
    merge_base_commit: commits.merge_base,
    status: comparison.status,
    ahead_by: comparison.ahead_by,
    behind_by: comparison.behind_by,
    total_commits: comparison.total_commits,
    commits: commits.shown,
    files: comparison.files.map((file) => fileJson(file, comparison, file.status === 'removed' ? base.repo : head.repo, wire)),
  }
}
