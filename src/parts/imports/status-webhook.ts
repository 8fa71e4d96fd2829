import { hasSubscribers } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { unaddressed } from '#hosting/payloads/payload-context.ts'
import { sql, type Transaction } from '#platform/database.ts'
import type { Import } from './import-row.ts'
import { importJson } from './json.ts'
import type { State } from './states.ts'

/**
 * Delivers `RepositoryImportEvent`, the spec's event for each change of an import's status. `repository_import`, which public
 * clients know, reports the ends only.
 */
export async function publishStatus(
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
