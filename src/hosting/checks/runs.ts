import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import type { Storage } from '#git/storage.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { type Database, json, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import {
  type CheckedPull,
  type CheckStatus,
  type Conclusion,
  checkedPulls,
  checkingApp,
  checkMayChange,
  findChecked,
  isOfApp,
  lockSuiteOf,
  readDelivered,
  resetSuite,
  settleSuite,
  withDates,
} from './suites.ts'

export interface CheckRun {
  id: number
  suite_id: number
  head_sha: string
  name: string
  status: CheckStatus
  conclusion: Conclusion | null
  details_url: string | null
  external_id: string
  started_at: Date
  completed_at: Date | null
  output_title: string | null
  output_summary: string | null
  output_text: string | null
  annotations_count: number
  pulls: CheckedPull[]
  app: App | null
}

export interface Annotation {
  path: string
  start_line: number
  end_line: number
  start_column: number | null
  end_column: number | null
  annotation_level: 'notice' | 'warning' | 'failure'
  message: string
  title: string | null
  raw_details: string | null
}

const columns = sql`r.id, r.suite_id, r.head_sha, r.name, r.status, r.conclusion, r.details_url, r.external_id, r.started_at, r.completed_at,
  r.output_title, r.output_summary, r.output_text, r.annotations_count, ${checkedPulls} as pulls, ${checkingApp}`
const source = sql`check_runs r join check_suites s on s.id = r.suite_id`

/** Runs by id, without a check of access: the caller has checked it. */
export async function loadRuns(db: Queryable, ids: number[]): Promise<CheckRun[]> {
  return (await db.rows<CheckRun>(sql`select ${columns} from ${source} where r.id = any(${ids})`)).map(withDates)
}

export async function loadRun(db: Queryable, repo: Repository, id: number): Promise<CheckRun> {
  return withDates(await db.load(sql`select ${columns} from ${source} where r.repo_id = ${repo.id} and r.id = ${id}`))
}

export interface RunFilter {
  check_name: string
  status: '' | CheckStatus
  /** `latest`: of each name the newest run of a suite. */
  filter: 'latest' | 'all'
  app_id?: string
}

/** The runs of a commit or of a suite, newest first. */
export async function listRuns(
  db: Queryable,
  repo: Repository,
  of: { sha: string } | { suite_id: number },
  { check_name, status, filter, app_id = '' }: RunFilter,
  slice: Slice,
): Promise<Listed<CheckRun>> {
  const condition = sql`r.repo_id = ${repo.id} and ${'sha' in of ? sql`r.head_sha = ${of.sha}` : sql`r.suite_id = ${of.suite_id}`}
    and (r.latest or ${filter === 'all'}::boolean) and (${check_name} = '' or r.name = ${check_name})
    and (${status} = '' or r.status = ${status}) and ${isOfApp(app_id)}`
  const found = sql`${source} where ${condition}`
  const { rows, total } = await listed<CheckRun>(db, { columns, source: found, order: sql`r.id desc` }, slice)
  return { rows: rows.map(withDates), total }
}

export async function listAnnotations(db: Queryable, { id }: { id: number }, slice: Slice): Promise<Listed<Annotation>> {
  const all = sql`check_annotations a where a.run_id = ${id}`
  return listed<Annotation>(db, { columns: sql`a.*`, source: all, order: sql`a.id` }, slice)
}

export interface RunOutput {
  title?: string
  summary: string
  text?: string
  annotations?: Annotation[]
}

export interface RunChanges {
  name?: string
  details_url?: string
  external_id?: string
  status?: CheckStatus
  conclusion?: Conclusion
  started_at?: Date
  completed_at?: Date
  output?: RunOutput
}

/** The documented limit of the runs of one name in a suite; older ones are deleted. */
const mostRuns = 1000

export async function createRun(
  db: Database,
  storage: Storage,
  repo: Repository,
  creator: Account,
  { name, head_sha, ...wanted }: RunChanges & { name: string; head_sha: string },
): Promise<CheckRun> {
  const { sha, commit } = await findChecked(db, storage, repo, head_sha)
  return db.transaction(async (transaction) => {
    const suite = await lockSuiteOf(transaction, repo, creator, sha)
    await supersede(transaction, suite, name)
    const { status, conclusion, completed_at } = stateAfter(
      { status: 'queued', conclusion: null, completed_at: null },
      wanted,
      db.now,
    )
    const { id } = await transaction.load<{ id: number }>(sql`
      insert into check_runs (repo_id, suite_id, head_sha, name, status, conclusion, completed_at, started_at, details_url, external_id,
        output_title, output_summary, output_text, creator_id)
      values (${repo.id}, ${suite.id}, ${sha}, ${name}, ${status}, ${conclusion}, ${completed_at}, ${wanted.started_at ?? transaction.now},
        ${wanted.details_url ?? null}, ${wanted.external_id ?? ''}, ${wanted.output?.title ?? null}, ${wanted.output?.summary ?? null},
        ${wanted.output?.text ?? null}, ${creator.id})
      returning id`)
    await addAnnotations(transaction, id, wanted.output?.annotations)
    await transaction.query(sql`
      delete from check_runs where id in (
        select id from check_runs where suite_id = ${suite.id} and name = ${name} order by id desc offset ${mostRuns})`)
    const facts = { check_run_id: id, check_suite_id: suite.id }
    const completed: Act[] = status === 'completed' ? [{ act: 'check_run.completed', ...facts }] : []
    const settled = await settleSuite(transaction, suite, commit)
    await publish(transaction, creator, repo, { act: 'check_run.created', ...facts }, ...completed, ...settled)
    return loadRun(transaction, repo, id)
  })
}

async function supersede(db: Transaction, suite: { id: number }, name: string) {
  await db.query(sql`update check_runs set latest = false where suite_id = ${suite.id} and name = ${name} and latest`)
}

type RunState = Pick<CheckRun, 'status' | 'conclusion' | 'completed_at'>

/** A conclusion completes a run. A run that is started again has none. */
function stateAfter(before: RunState, { status, conclusion, completed_at }: RunChanges, now: Date): RunState {
  const next = conclusion ? 'completed' : (status ?? before.status)
  if (next !== 'completed') return { status: next, conclusion: null, completed_at: null }
  const concluded = conclusion ?? before.conclusion
  if (!concluded) throw new Refusal('invalid', 'Invalid request.\n\nA completed check run needs a "conclusion".')
  return { status: next, conclusion: concluded, completed_at: completed_at ?? before.completed_at ?? now }
}

export async function updateRun(
  db: Database,
  storage: Storage,
  repo: Repository,
  editor: Account,
  id: number,
  changes: RunChanges,
): Promise<CheckRun> {
  const { suite_id, head_sha } = await loadRun(db, repo, id)
  const commit = await readDelivered(db, storage, repo, head_sha)
  return db.transaction(async (transaction) => {
    await transaction.load(sql`select id from check_suites where id = ${suite_id} and repo_id = ${keptId(repo)} for update`)
    await checkMayChange(transaction, editor, { id: suite_id })
    const before = await loadRun(transaction, repo, id)
    const { name = before.name } = changes
    if (name !== before.name) await supersede(transaction, { id: suite_id }, name)
    const { output } = changes
    const { status, conclusion, completed_at } = stateAfter(before, changes, db.now)
    await transaction.query(sql`
      update check_runs set status = ${status}, conclusion = ${conclusion}, completed_at = ${completed_at},
        name = ${name}, details_url = ${changes.details_url ?? before.details_url},
        external_id = ${changes.external_id ?? before.external_id}, started_at = ${changes.started_at ?? before.started_at},
        output_title = ${output?.title ?? before.output_title}, output_summary = ${output?.summary ?? before.output_summary},
        output_text = ${output ? (output.text ?? null) : before.output_text}
      where id = ${id}`)
    await addAnnotations(transaction, id, output?.annotations)
    const completes = status === 'completed' && before.status !== 'completed'
    const completed: Act[] = completes ? [{ act: 'check_run.completed', check_run_id: id, check_suite_id: suite_id }] : []
    const acts = [...completed, ...(await settleSuite(transaction, { id: suite_id }, commit))]
    if (acts.length) await publish(transaction, editor, repo, ...acts)
    return loadRun(transaction, repo, id)
  })
}

/** More than any client sends: 200 requests with the documented 50. */
const mostAnnotations = 10_000

async function addAnnotations(db: Transaction, run_id: number, annotations: Annotation[] = []) {
  if (!annotations.length) return
  const { annotations_count } = await db.load<{ annotations_count: number }>(sql`
    update check_runs set annotations_count = annotations_count + ${annotations.length} where id = ${run_id} returning annotations_count`)
  if (annotations_count > mostAnnotations) throw new Refusal('invalid', `A check run has at most ${mostAnnotations} annotations.`)
  await db.query(sql`
    insert into check_annotations (run_id, path, start_line, end_line, start_column, end_column, annotation_level, message, title, raw_details)
    select ${run_id}, path, start_line, end_line, start_column, end_column, annotation_level, message, title, raw_details
    from jsonb_to_recordset(${json(annotations)}::jsonb) as a (path text, start_line integer, end_line integer, start_column integer,
      end_column integer, annotation_level text, message text, title text, raw_details text)`)
}

/** Asks for a completed run to be made again. The run itself stays as it is. */
export async function rerequestRun(db: Transaction, repo: Repository, user: Account, id: number) {
  const { suite_id, app } = await loadRun(db, repo, id)
  const { rowCount } = await db.query(
    sql`select from check_suites where id = ${suite_id} and repo_id = ${keptId(repo)} and status = 'completed' for update`,
  )
  if (!rowCount) throw new Refusal('invalid', 'This check run is not rerequestable: its check suite is not completed.')
  await publish(db, user, repo, {
    act: 'check_run.rerequested',
    check_run_id: id,
    check_suite_id: suite_id,
    for_app_id: app?.id ?? null,
  })
  await resetSuite(db, suite_id)
}
