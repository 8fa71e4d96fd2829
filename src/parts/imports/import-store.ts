import { hasSubscribers } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { unaddressed } from '#hosting/payloads/payload-context.ts'
import type { Account } from '#identity/accounts.ts'
import { json, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import type { CommitAuthor, Import, Report } from './import-row.ts'
import { importJson } from './json.ts'
import { type ImportEvent, nextState, type State } from './states.ts'

/** The topic of transactions that give the runner work or take it away; see Transaction.touch. */
export const importsTopic = 'imports'

export async function loadImport(db: Queryable, repo: { id: number }): Promise<Import> {
  const found = await db.first<Import>(sql`select * from imports where repo_id = ${repo.id}`)
  if (!found) throw missing()
  return found
}

/** Locks the import of a repository until the transaction ends. */
export async function lockImportOf(db: Transaction, repo: { id: number }): Promise<Import> {
  const imported = await lockImport(db, sql`repo_id = ${repo.id}`)
  if (!imported) throw missing()
  return imported
}

export function lockImport(db: Transaction, condition: Sql): Promise<Import | undefined> {
  return db.first<Import>(sql`select * from imports where ${condition} for update`)
}

export const refused = (message: string, field?: string) =>
  invalid({ resource: 'Import', code: 'custom', ...(field && { field }), message })

/** A push must not be overwritten. */
export function checkUntouched({ published }: Import) {
  if (!published) throw refused('There was a push to the repository after the import, so the imported commits cannot be changed.')
}

/** Reserved before the insert, because the credentials are sealed with the id. */
export async function reserveId(db: Transaction): Promise<number> {
  const row = await db.first<{ id: number }>(sql`select nextval(pg_get_serial_sequence('imports', 'id')) as id`)
  if (!row) throw new Error('no id was reserved')
  return row.id
}

type NewImportRow = Pick<
  Import,
  | 'id'
  | 'vcs'
  | 'vcs_url'
  | 'svn_ignore'
  | 'gitattributes'
  | 'svn_layout'
  | 'keep_deleted'
  | 'tfvc_project'
  | 'credentials'
  | 'use_lfs'
  | 'verify_all'
>

export async function insertImport(
  db: Transaction,
  repo: { id: number },
  requester: Account,
  values: NewImportRow,
): Promise<Import> {
  const { id, vcs, vcs_url, svn_ignore, gitattributes, svn_layout, keep_deleted, tfvc_project } = values
  const { credentials, use_lfs, verify_all } = values
  const status = nextState('none', vcs ? 'started' : 'started_without_kind')
  const row = await db.first<Import>(sql`
    insert into imports (id, repo_id, requester_id, vcs, vcs_url, svn_ignore, gitattributes, svn_layout, keep_deleted, tfvc_project, credentials,
      use_lfs, verify_all, status, active, created_at, updated_at, step_at)
    overriding system value
    values (${id}, ${repo.id}, ${requester.id}, ${vcs}, ${vcs_url}, ${svn_ignore}, ${gitattributes}, ${write(svn_layout)}::jsonb, ${keep_deleted},
      ${tfvc_project}, ${credentials}, ${use_lfs}, ${verify_all}, ${status}, true, ${db.now}, ${db.now}, ${db.now})
    returning *`)
  if (!row) throw new Error('the import was not inserted')
  await publishStatus(db, requester, row, null)
  db.touch(importsTopic)
  return row
}

/** The columns that an event changes besides the status. */
export type Changes = Partial<
  Omit<
    Import,
    'id' | 'repo_id' | 'status' | 'authors_count' | 'created_at' | 'updated_at' | 'step_at' | 'heartbeat_at' | 'worked'
  >
>

/** An import that is not active waits for its user. Author corrections after the end do not count, and importing again starts over. */
function workedUntil(now: Date, { status, active, worked, step_at }: Import, event: ImportEvent): number | null {
  if (status === 'complete') return event === 'corrected' || event === 'failed' ? worked : 0
  return (worked ?? 0) + (active ? (now.getTime() - step_at.getTime()) / 1000 : 0)
}

/** The only statement that changes a status. Each change begins a new step. */
export async function changeStatus(
  db: Transaction,
  actor: { id: number },
  imported: Import,
  event: ImportEvent,
  changes: Changes,
): Promise<Import> {
  const status = nextState(imported.status, event)
  if (status === undefined || status === 'none') throw new Error(`cannot apply ${event} to an import in state ${imported.status}`)
  const next = { ...imported, ...changes }
  const row = await db.first<Import>(sql`
    update imports set status = ${status}, run = ${next.run}, active = ${next.active}, vcs = ${next.vcs}, vcs_url = ${next.vcs_url},
      svn_root = ${next.svn_root}, svn_ignore = ${next.svn_ignore}, gitattributes = ${next.gitattributes},
      svn_layout = ${write(next.svn_layout)}::jsonb, keep_deleted = ${next.keep_deleted}, left_out = ${write(next.left_out)}::jsonb, tfvc_project = ${next.tfvc_project}, credentials = ${next.credentials},
      use_lfs = ${next.use_lfs},
      commit_count = ${next.commit_count}, percent = ${next.percent}, push_percent = ${next.push_percent}, failed_step = ${next.failed_step},
      message = ${next.message}, project_choices = ${write(next.project_choices)}::jsonb, large_files_count = ${next.large_files_count},
      large_files_size = ${next.large_files_size}, report = ${write(next.report)}::jsonb, published = ${write(next.published)}::jsonb,
      moving = ${write(next.moving)}::jsonb, correcting = ${next.correcting}, finished_at = ${next.finished_at}, updated_at = ${db.now},
      step_at = ${db.now}, worked = ${workedUntil(db.now, imported, event)}
    where id = ${imported.id} returning *`)
  if (!row) throw new Error('the locked import is gone')
  if (status !== imported.status) await publishStatus(db, actor, row, imported.status)
  db.touch(importsTopic)
  return row
}

const write = (value: unknown) => (value === null ? null : json(value))

/** The runner stops the run when it polls. */
export async function deleteImport(db: Transaction, actor: { id: number }, imported: Import) {
  const { id, status } = imported
  if (nextState(status, 'cancelled') !== 'none') throw new Error(`cannot cancel an import in state ${status}`)
  await publishStatus(db, actor, imported, status, 'cancelled')
  await db.query(sql`delete from imports where id = ${id}`)
  db.touch(importsTopic)
}

/**
 * Delivers `RepositoryImportEvent`, the spec's event for each change of an import's status. `repository_import`, which public
 * clients know, reports the ends only.
 */
async function publishStatus(
  db: Transaction,
  actor: { id: number },
  imported: Import,
  previous_status: State | null,
  status: State | 'cancelled' = imported.status,
) {
  const repo = { id: imported.repo_id }
  if (!(await hasSubscribers(db, repo, 'RepositoryImportEvent'))) return
  const names = await db.first<{ owner_login: string; name: string }>(sql`
    select a.login as owner_login, r.name from repositories r join accounts a on a.id = r.owner_id where r.id = ${repo.id}`)
  if (!names) return
  const facts = { status, previous_status, import: importJson(imported, names, unaddressed) }
  await publish(db, actor, repo, { act: 'import.status_changed', ...facts })
}

export async function loadReport(db: Queryable, repo: { id: number }): Promise<Report> {
  const found = await loadImport(db, repo)
  if (!found.report) throw missing()
  const mapped_authors = await db.rows<CommitAuthor>(sql`
    select id, remote_id, remote_name, name, email from import_authors
    where import_id = ${found.id} and (name, email) is distinct from (original_name, original_email) order by id`)
  return { ...found, report: found.report, mapped_authors }
}
