import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, NullableString, NullableTimestamp, specified, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import { type CommitAuthor, correctionFailure, durationOf, type Import, type Report } from './import-row.ts'
import { fieldsOf, statusText } from './states.ts'

type Named = Pick<Repository, 'owner_login' | 'name'>

const repositoryUrl = ({ owner_login, name }: Named, wire: Wire) => `${wire.api}/repos/${owner_login}/${name}`
const importUrl = (repo: Named, wire: Wire) => `${repositoryUrl(repo, wire)}/import`

const Choices = Type.Array(
  Type.Object({
    vcs: Type.String(),
    svn_root: Type.Optional(Type.String()),
    tfvc_project: Type.Optional(Type.String()),
    human_name: Type.String(),
  }),
)

const LayoutSchema = Type.Object({
  trunk: Type.String(),
  branches: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
})

export const ImportSchema = Type.Object(
  {
    vcs: NullableString,
    vcs_url: Type.String(),
    svn_root: Type.Optional(Type.String()),
    svn_ignore: Type.Optional(Type.Boolean()),
    gitattributes: Type.Optional(Type.Boolean()),
    svn_layout: Type.Optional(LayoutSchema),
    keep_deleted: Type.Optional(Type.Boolean()),
    left_out_count: Type.Optional(Type.Integer()),
    tfvc_project: Type.Optional(Type.String()),
    use_lfs: Type.String(),
    status: Type.String(),
    status_text: Type.String(),
    has_large_files: Type.Boolean(),
    large_files_size: Type.Integer(),
    large_files_count: Type.Integer(),
    authors_count: Type.Integer(),
    commit_count: Type.Optional(Type.Integer()),
    percent: Type.Optional(Type.Integer()),
    import_percent: Type.Optional(Type.Integer()),
    push_percent: Type.Optional(Type.Integer()),
    failed_step: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    project_choices: Type.Optional(Choices),
    url: Address,
    html_url: Address,
    authors_url: Address,
    repository_url: Address,
  },
  { title: 'Import' },
)

/** Without the credentials. Progress and failures are shown only in the states that have them. */
export function importJson(imported: Import, repo: Named, wire: Wire): Static<typeof ImportSchema> {
  const { status, message, svn_root, svn_ignore, gitattributes, svn_layout, keep_deleted, left_out, tfvc_project } = imported
  const { active, large_files_count } = imported
  const fields = fieldsOf[status] ?? []
  const url = importUrl(repo, wire)
  return {
    vcs: specified<string>(imported.vcs, '', wire),
    vcs_url: imported.vcs_url,
    ...(svn_root !== null && { svn_root }),
    ...(svn_ignore && { svn_ignore }),
    ...(gitattributes && { gitattributes }),
    ...(svn_layout && { svn_layout }),
    ...(keep_deleted && { keep_deleted }),
    ...(left_out && { left_out_count: left_out.length }),
    ...(tfvc_project !== null && { tfvc_project }),
    use_lfs: imported.use_lfs,
    status,
    status_text: statusText({ status, waiting: !active, message }),
    has_large_files: large_files_count > 0,
    large_files_size: imported.large_files_size,
    large_files_count,
    authors_count: imported.authors_count,
    ...(fields.includes('commit_count') && { commit_count: imported.commit_count ?? 0 }),
    // Public clients know the second name.
    ...(fields.includes('percent') && { percent: imported.percent ?? 0, import_percent: imported.percent ?? 0 }),
    ...(fields.includes('push_percent') && { push_percent: imported.push_percent ?? 0 }),
    ...(fields.includes('failed_step') && { failed_step: imported.failed_step ?? '' }),
    ...(fields.includes('message') && message !== null && { message }),
    ...(fields.includes('project_choices') && { project_choices: imported.project_choices ?? [] }),
    url,
    html_url: `${wire.web}/${repo.owner_login}/${repo.name}/import`,
    authors_url: `${url}/authors`,
    repository_url: repositoryUrl(repo, wire),
  }
}

export const AuthorSchema = Type.Object(
  {
    id: Type.Integer(),
    remote_id: Type.String(),
    remote_name: Type.String(),
    email: Type.String(),
    name: Type.String(),
    url: Address,
    import_url: Address,
  },
  { title: 'CommitAuthor' },
)

export function authorJson(
  { id, remote_id, remote_name, email, name }: CommitAuthor,
  repo: Named,
  wire: Wire,
): Static<typeof AuthorSchema> {
  const import_url = importUrl(repo, wire)
  return { id, remote_id, remote_name, email, name, url: `${import_url}/authors/${id}`, import_url }
}

export const LargeFileSchema = Type.Object(
  { ref_name: Type.String(), path: Type.String(), oid: Type.String(), size: Type.Integer() },
  { title: 'LargeFile' },
)

const LeftOut = Type.Object({
  path: Type.String(),
  first_revision: Type.Integer(),
  last_revision: Type.Integer(),
  count: Type.Integer(),
  reason: Type.String(),
})

const Remark = Type.Object({
  what: Type.String(),
  path: Type.String(),
  text: Type.String(),
  revision: Type.Optional(Type.Integer()),
})

const Mismatch = Type.Object({ where: Type.String(), path: Type.String(), what: Type.String() })

export const ReportSchema = Type.Object(
  {
    vcs: NullableString,
    vcs_url: Type.String(),
    status: Type.String(),
    commit_count: Type.Integer(),
    commits_count: Type.Optional(Type.Integer()),
    branches_count: Type.Optional(Type.Integer()),
    tags_count: Type.Optional(Type.Integer()),
    authors_count: Type.Integer(),
    large_files_count: Type.Integer(),
    large_files_size: Type.Integer(),
    use_lfs: Type.String(),
    mapped_authors: Type.Array(AuthorSchema),
    correction_error: NullableString,
    notes: Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: { type: 'integer' } }),
    remarks: Type.Array(Remark),
    left_out: Type.Array(LeftOut),
    verified: Type.Object({
      branches: Type.Integer(),
      tags: Type.Integer(),
      revisions: Type.Integer(),
      files: Type.Integer(),
      all: Type.Boolean(),
    }),
    mismatches: Type.Array(Mismatch),
    started_at: Timestamp,
    finished_at: NullableTimestamp,
    duration: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
    url: Address,
    import_url: Address,
  },
  { title: 'ImportReport' },
)

/** `commit_count` is what the source counts, such as revisions; `commits_count` is what git counts. `duration` is in seconds. */
export function reportJson(reported: Report, repo: Named, wire: Wire): Static<typeof ReportSchema> {
  const { report, created_at, finished_at } = reported
  const { mismatches, branches, tags, revisions, files } = report.verification
  const import_url = importUrl(repo, wire)
  return {
    vcs: reported.vcs,
    vcs_url: reported.vcs_url,
    status: reported.status,
    commit_count: reported.commit_count ?? 0,
    ...(report.commits_count !== undefined && { commits_count: report.commits_count }),
    ...(report.branches_count !== undefined && { branches_count: report.branches_count }),
    ...(report.tags_count !== undefined && { tags_count: report.tags_count }),
    authors_count: reported.authors_count,
    large_files_count: reported.large_files_count,
    large_files_size: reported.large_files_size,
    use_lfs: reported.use_lfs,
    mapped_authors: reported.mapped_authors.map((author) => authorJson(author, repo, wire)),
    correction_error: correctionFailure(reported),
    notes: report.notes,
    remarks: report.remarks ?? [],
    left_out: (report.left_out ?? []).map(({ revisions: [first_revision, last_revision], ...left }) => ({
      ...left,
      first_revision,
      last_revision,
    })),
    verified: { branches, tags, revisions, files, all: reported.verify_all },
    mismatches,
    started_at: timestamp(created_at),
    finished_at: finished_at && timestamp(finished_at),
    duration: durationOf(reported),
    url: `${import_url}/report`,
    import_url,
  }
}
