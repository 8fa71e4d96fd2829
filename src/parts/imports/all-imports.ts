import { type Administrator, recordAudit } from '#activity/audit.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import type { Import } from './import-row.ts'
import { cancelImport, type ImportDeps, updateImport } from './imports.ts'
import { applyEvent } from './progress.ts'
import { type State, states } from './states.ts'

/** An import as operators see it, without its credentials. */
export type ListedImport = Pick<Import, 'id' | 'vcs' | 'status' | 'percent' | 'push_percent' | 'message' | 'updated_at'> & {
  repository: string
  requester: string | null
  source: string
}

/** Imports of all repositories, those that run first. */
export function listAllImports(db: Queryable, only: { active: boolean }, slice: Slice): Promise<Listed<ListedImport>> {
  return listed(
    db,
    {
      columns: sql`i.id, o.login || '/' || r.name as repository, u.login as requester, i.vcs, regexp_replace(i.vcs_url, '//[^/@]*@', '//') as source,
        i.status, i.percent, i.push_percent, i.message, i.updated_at`,
      source: sql`imports i join repositories r on r.id = i.repo_id join accounts o on o.id = r.owner_id
        left join accounts u on u.id = i.requester_id where ${only.active ? sql`i.active` : sql`true`}`,
      order: sql`i.active desc, i.id desc`,
    },
    slice,
  )
}

/** For metrics: every status, also those that no import has. */
export async function countImports(db: Queryable): Promise<Record<string, number>> {
  const rows = await db.rows<{ status: State; count: number }>(sql`
    select status, count(*)::float8 as count from imports group by status`)
  return {
    ...Object.fromEntries(states.map((state) => [state, 0])),
    ...Object.fromEntries(rows.map(({ status, count }) => [status, count])),
  }
}

interface Target {
  id: number
  archived: boolean
}

/** The repository of an import, and the user in whose name it runs: events about it name them. */
async function loadTarget(db: Transaction, name: string): Promise<{ repo: Target; requester: Account }> {
  const [owner = '', repository = ''] = name.split('/')
  const found = await db.first<Target & { requester_id: number | null; owner_id: number }>(sql`
    select r.id, r.archived, i.requester_id, r.owner_id from imports i join repositories r on r.id = i.repo_id join accounts o on o.id = r.owner_id
    where lower(o.login) = lower(${owner}) and lower(r.name) = lower(${repository})`)
  if (!found) throw missing()
  const requester = await db.load<Account>(
    sql`select ${accountColumns} from accounts a where a.id = ${found.requester_id ?? found.owner_id}`,
  )
  return { repo: found, requester }
}

/** Ends the imports of a server that was restored from a backup, because the server of the backup may still run them. Returns how many. */
export async function endRestoredImports(db: Transaction): Promise<number> {
  const active = await db.rows<Pick<Import, 'id' | 'run'>>(sql`select id, run from imports where active order by id`)
  const message = 'The server was restored from a backup while this import was in progress. Restart the import to run it here.'
  for (const { id, run } of active) await applyEvent(db, id, run, 'failed', { message })
  return active.length
}

export async function cancelImportByAdmin(db: Transaction, admin: Administrator, name: string) {
  const { repo, requester } = await loadTarget(db, name)
  await cancelImport(db, requester, repo)
  await recordAudit(db, admin, 'import.cancel', name)
}

export async function restartImportByAdmin(
  db: Transaction,
  admin: Administrator,
  deps: ImportDeps,
  name: string,
): Promise<Import> {
  const { repo, requester } = await loadTarget(db, name)
  const restarted = await updateImport(db, deps, requester, repo, {})
  await recordAudit(db, admin, 'import.restart', name)
  return restarted
}
