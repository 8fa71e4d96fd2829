import { findCommit } from '#hosting/refs/commits.ts'
import { Answer, created, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Refusal } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Static, Type } from '#platform/schema.ts'
import { isWebAddress } from '#platform/web-address.ts'
import { AnnotationSchema, annotationJson, CheckRunSchema, checkRunJson } from './json.ts'
import { createRun, listAnnotations, listRuns, loadRun, type RunChanges, rerequestRun, updateRun } from './runs.ts'
import { type CheckStatus, type Conclusion, conclusions, loadSuite } from './suites.ts'

const reading = { permission: 'checks:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { permission: 'checks:write', access: 'push', writable: true } as const
/** As documented, users and OAuth applications only read checks and request them again. */
const reporting = { ...writing, viewer: 'installation', own_transaction: true, longest_body: 8 * 1024 * 1024 } as const
const filters = {
  check_name: text(),
  status: choice('', 'queued', 'in_progress', 'completed'),
  filter: choice('latest', 'all'),
}
const RunsSchema = Type.Object({ total_count: Type.Integer(), check_runs: Type.Array(CheckRunSchema) }, { title: 'CheckRuns' })
/** As documented, the response of a rerequest is an empty object. */
const Empty = Type.Object({}, { title: 'EmptyObject' })

const Line = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })
const Column = Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: 2_147_483_647 }))
const Words = (maxLength: number) => Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }))
const Annotation = Type.Object({
  path: Type.String({ minLength: 1, maxLength: 4096 }),
  start_line: Line,
  end_line: Line,
  start_column: Column,
  end_column: Column,
  annotation_level: Type.Unsafe<'notice' | 'warning' | 'failure'>({ type: 'string', enum: ['notice', 'warning', 'failure'] }),
  message: Type.String({ minLength: 1, maxLength: 65_536 }),
  title: Words(255),
  raw_details: Words(65_536),
})
const fields = Type.Partial(
  Type.Object({
    details_url: Words(2000),
    external_id: Words(255),
    status: Type.Unsafe<CheckStatus>({ type: 'string', enum: ['queued', 'in_progress', 'completed'] }),
    conclusion: Type.Unsafe<Conclusion>({ type: 'string', enum: conclusions }),
    started_at: Words(50),
    completed_at: Words(50),
    output: Type.Object({
      title: Words(255),
      summary: Type.String({ maxLength: 65_535 }),
      text: Words(65_535),
      annotations: Type.Optional(Type.Array(Annotation, { maxItems: 50 })),
    }),
  }),
)
const Name = Type.String({ minLength: 1, maxLength: 255 })
const NewRun = Type.Object({ name: Name, head_sha: Type.String(), ...fields.properties })
const ChangedRun = Type.Object({ name: Type.Optional(Name), ...fields.properties })

function readChanges({ output, ...body }: Static<typeof fields>): RunChanges {
  const { details_url, external_id, status, conclusion } = body
  const [started_at, completed_at] = [readDate('started_at', body.started_at), readDate('completed_at', body.completed_at)]
  if (details_url && !isWebAddress(details_url)) throw new Refusal('invalid', 'details_url must be an http or https address.')
  return {
    ...(details_url && { details_url }),
    ...(external_id && { external_id }),
    ...(status && { status }),
    ...(conclusion && { conclusion }),
    ...(started_at && { started_at }),
    ...(completed_at && { completed_at }),
    ...(output && { output: readOutput(output) }),
  }
}

function readDate(field: string, given: string | null | undefined) {
  const date = given ? parseIsoDate(given) : undefined
  if (given && !date) throw new Refusal('invalid', `${field} is not a valid ISO 8601 date.`)
  return date
}

function readOutput({ title, summary, text: words, annotations = [] }: NonNullable<Static<typeof fields>['output']>) {
  return {
    ...(title != null && { title }),
    summary,
    ...(words != null && { text: words }),
    annotations: annotations.map((annotation) => {
      const { start_column = null, end_column = null, title: heading = null, raw_details = null, ...rest } = annotation
      if (rest.end_line < rest.start_line) throw new Refusal('invalid', 'The end_line of an annotation is before its start_line.')
      return { ...rest, start_column, end_column, title: heading, raw_details }
    }),
  }
}

export const api = group('Check runs', [
  post(
    '/repos/{owner}/{repo}/check-runs',
    {
      ...reporting,
      operation: 'checks/create',
      summary: 'Report a check of a commit',
      body: NewRun,
      answers: { 201: CheckRunSchema },
    },
    async ({ db, storage, repo, viewer, body, wire }) => {
      const { name, head_sha, ...rest } = body
      const run = await createRun(db, storage, repo, viewer, { name, head_sha, ...readChanges(rest) })
      return created(checkRunJson(run, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/check-runs/{check_run_id}',
    { ...reading, operation: 'checks/get', summary: 'Get a check run', answers: { 200: CheckRunSchema } },
    async ({ db, repo, params, wire }) => checkRunJson(await loadRun(db, repo, params.check_run_id), repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}/check-runs/{check_run_id}',
    {
      ...reporting,
      operation: 'checks/update',
      summary: 'Change a check run; annotations are added to those that it has',
      body: ChangedRun,
      answers: { 200: CheckRunSchema },
    },
    async ({ db, storage, repo, viewer, params, body: { name, ...rest }, wire }) => {
      const changes = { ...(name && { name }), ...readChanges(rest) }
      return checkRunJson(await updateRun(db, storage, repo, viewer, params.check_run_id, changes), repo, wire)
    },
  ),
  get(
    '/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations',
    {
      ...reading,
      operation: 'checks/list-annotations',
      summary: 'List the annotations of a check run',
      ...listOf(AnnotationSchema),
    },
    async ({ db, repo, params, page, wire }) => {
      const run = await loadRun(db, repo, params.check_run_id)
      return paged(await listAnnotations(db, run, page), (annotation) => annotationJson(annotation, run, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest',
    {
      ...writing,
      scopes: ['public_repo', 'repo'],
      operation: 'checks/rerequest-run',
      summary: 'Ask for a completed check to be run again',
      answers: { 201: Empty },
    },
    async ({ db, repo, viewer, params }) => {
      await rerequestRun(db, repo, viewer, params.check_run_id)
      return new Answer({}, { status: 201 })
    },
  ),
  get(
    '/repos/{owner}/{repo}/commits/{ref+}/check-runs',
    {
      ...reading,
      operation: 'checks/list-for-ref',
      refuses: ['conflict'],
      summary: 'List the check runs of a commit, newest first',
      query: { ...filters, app_id: text() },
      list: true,
      answers: { 200: RunsSchema },
    },
    async ({ db, storage, repo, params, query, page, wire }) => {
      const sha = await findCommit(storage, repo, params.ref)
      const { rows, total } = await listRuns(db, repo, { sha }, query, page)
      return new Answer({ total_count: total, check_runs: rows.map((run) => checkRunJson(run, repo, wire)) }, { total })
    },
  ),
  get(
    '/repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs',
    {
      ...reading,
      operation: 'checks/list-for-suite',
      summary: 'List the check runs of a suite, newest first',
      query: filters,
      list: true,
      answers: { 200: RunsSchema },
    },
    async ({ db, repo, params, query, page, wire }) => {
      const { id: suite_id } = await loadSuite(db, repo, params.check_suite_id)
      const { rows, total } = await listRuns(db, repo, { suite_id }, query, page)
      return new Answer({ total_count: total, check_runs: rows.map((run) => checkRunJson(run, repo, wire)) }, { total })
    },
  ),
])
