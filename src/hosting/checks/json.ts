import { type CommitObject, noObject } from '#git/objects.ts'
import { appJson, Integration } from '#hosting/apps/json.ts'
import { MinimalRepository, minimalRepositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import {
  Address,
  encodePath,
  NullableString,
  NullableTimestamp,
  nodeId,
  Timestamp,
  timestamp,
  type Wire,
} from '#http/serialization.ts'
import type { App } from '#identity/apps.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Annotation, CheckRun } from './runs.ts'
import type { CheckedPull, CheckSuite } from './suites.ts'

/** The app of checks that users created before only apps could. Clients expect one. */
const ownApp: App = {
  id: 0,
  application_id: 0,
  client_id: '',
  bot_id: 0,
  slug: 'belfry',
  name: 'Belfry',
  url: '',
  description: 'Checks that users reported with their own tokens',
  callback_url: '',
  setup_url: null,
  owner_id: 0,
  owner_login: 'ghost',
  owner_type: 'Organization',
  owner_site_admin: false,
  permissions: { checks: 'write', metadata: 'read' },
  events: [],
  public: false,
  created_at: new Date('2026-01-01'),
  updated_at: new Date('2026-01-01'),
}

function checkAppJson(app: App | null, wire: Wire): Static<typeof Integration> {
  return app ? appJson(app, wire) : { ...appJson(ownApp, wire), external_url: wire.web, html_url: wire.web }
}

const End = Type.Object({
  ref: Type.String(),
  sha: Type.String(),
  repo: Type.Object({ id: Type.Integer(), url: Address, name: Type.String() }),
})
const Pulls = Type.Array(
  Type.Object(
    { id: Type.Integer(), number: Type.Integer(), url: Address, head: End, base: End },
    { title: 'PullRequestMinimal' },
  ),
)

const above = (repo: Repository, { api }: Wire) => `${api}/repos/${repo.owner_login}/${repo.name}`

function pullsJson(pulls: CheckedPull[], repo: Repository, wire: Wire): Static<typeof Pulls> {
  const place = { id: repo.id, url: above(repo, wire), name: repo.name }
  return pulls.map(({ id, number, ...ends }) => ({
    id,
    number,
    url: `${above(repo, wire)}/pulls/${number}`,
    head: { ref: ends.head_ref, sha: ends.head_sha, repo: place },
    base: { ref: ends.base_ref, sha: ends.base_sha, repo: place },
  }))
}

export const CheckRunSchema = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    head_sha: Type.String(),
    external_id: Type.String(),
    url: Address,
    html_url: Address,
    details_url: Type.String(),
    status: Type.String(),
    conclusion: NullableString,
    started_at: Timestamp,
    completed_at: NullableTimestamp,
    output: Type.Object({
      title: NullableString,
      summary: NullableString,
      text: NullableString,
      annotations_count: Type.Integer(),
      annotations_url: Address,
    }),
    name: Type.String(),
    check_suite: Type.Object({ id: Type.Integer() }),
    app: Integration,
    pull_requests: Pulls,
  },
  { title: 'CheckRun' },
)

export function checkRunJson(run: CheckRun, repo: Repository, wire: Wire): Static<typeof CheckRunSchema> {
  const url = `${above(repo, wire)}/check-runs/${run.id}`
  const html_url = `${wire.web}/${repo.owner_login}/${repo.name}/commit/${run.head_sha}#check-run-${run.id}`
  return {
    id: run.id,
    node_id: nodeId('CheckRun', run.id),
    head_sha: run.head_sha,
    external_id: run.external_id,
    url,
    html_url,
    details_url: run.details_url ?? html_url,
    status: run.status,
    conclusion: run.conclusion,
    started_at: timestamp(run.started_at),
    completed_at: run.completed_at && timestamp(run.completed_at),
    output: {
      title: run.output_title,
      summary: run.output_summary,
      text: run.output_text,
      annotations_count: run.annotations_count,
      annotations_url: `${url}/annotations`,
    },
    name: run.name,
    check_suite: { id: run.suite_id },
    app: checkAppJson(run.app, wire),
    pull_requests: pullsJson(run.pulls, repo, wire),
  }
}

export const AnnotationSchema = Type.Object(
  {
    path: Type.String(),
    blob_href: Address,
    start_line: Type.Integer(),
    end_line: Type.Integer(),
    start_column: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    end_column: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    annotation_level: Type.String(),
    title: NullableString,
    message: Type.String(),
    raw_details: NullableString,
  },
  { title: 'CheckAnnotation' },
)

export function annotationJson(
  annotation: Annotation,
  { head_sha }: CheckRun,
  repo: Repository,
  wire: Wire,
): Static<typeof AnnotationSchema> {
  const { path, start_line, end_line, start_column, end_column, annotation_level, title, message, raw_details } = annotation
  const blob_href = `${wire.web}/${repo.owner_login}/${repo.name}/blob/${head_sha}/${encodePath(path.toWellFormed())}`
  return { path, blob_href, start_line, end_line, start_column, end_column, annotation_level, title, message, raw_details }
}

const Signed = Type.Object({ name: Type.String(), email: Type.String() })
const suite = {
  id: Type.Integer(),
  node_id: Type.String(),
  head_branch: NullableString,
  head_sha: Type.String(),
  status: Type.String(),
  conclusion: NullableString,
  url: Address,
  before: NullableString,
  after: Type.String(),
  pull_requests: Pulls,
  app: Integration,
  created_at: Timestamp,
  updated_at: Timestamp,
  rerequestable: Type.Boolean(),
  runs_rerequestable: Type.Boolean(),
  latest_check_runs_count: Type.Integer(),
  check_runs_url: Address,
}
const HeadCommit = Type.Object({
  id: Type.String(),
  tree_id: Type.String(),
  message: Type.String(),
  timestamp: Timestamp,
  author: Signed,
  committer: Signed,
})
export const CheckSuiteSchema = Type.Object(
  { ...suite, head_commit: HeadCommit, repository: MinimalRepository },
  { title: 'CheckSuite' },
)

/** A suite as the payload of a run shows it. */
export function plainSuiteJson(row: CheckSuite, repo: Repository, wire: Wire) {
  const url = `${above(repo, wire)}/check-suites/${row.id}`
  return {
    id: row.id,
    node_id: nodeId('CheckSuite', row.id),
    head_branch: row.head_branch,
    head_sha: row.head_sha,
    status: row.status,
    conclusion: row.conclusion,
    url,
    before: row.before_sha,
    after: row.head_sha,
    pull_requests: pullsJson(row.pulls, repo, wire),
    app: checkAppJson(row.app, wire),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
    rerequestable: true,
    runs_rerequestable: row.status === 'completed',
    latest_check_runs_count: row.runs_count,
    check_runs_url: `${url}/check-runs`,
  }
}

/** Git may have removed an unreachable commit; its checks remain. */
export function headCommitJson(row: CheckSuite, commit: CommitObject | undefined): Static<typeof HeadCommit> {
  const nobody = { name: '', email: '' }
  if (!commit) {
    const at = timestamp(row.created_at)
    return { id: row.head_sha, tree_id: noObject, message: '', timestamp: at, author: nobody, committer: nobody }
  }
  const { sha: id, tree: tree_id, message, author, committer } = commit
  const signed = ({ name, email }: { name: string; email: string }) => ({ name, email })
  return { id, tree_id, message, timestamp: timestamp(committer.date), author: signed(author), committer: signed(committer) }
}

export function checkSuiteJson(
  row: CheckSuite,
  commit: CommitObject | undefined,
  repo: Repository,
  wire: Wire,
): Static<typeof CheckSuiteSchema> {
  const head_commit = headCommitJson(row, commit)
  return { ...plainSuiteJson(row, repo, wire), head_commit, repository: minimalRepositoryJson(repo, wire) }
}
