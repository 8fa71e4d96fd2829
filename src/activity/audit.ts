import { type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

/** A line of the audit log. */
export interface AuditEntry {
  id: number
  at: Date
  actor_id: number | null
  actor_login: string
  action: string
  subject: string
}

/** Records in the transaction of an act who did it. `subject` names what was changed, such as a login or `owner/name`. */
export async function recordAudit(db: Queryable, actor: { id: number }, action: string, subject: string) {
  await db.query(sql`
    insert into audit_entries (at, actor_id, actor_login, action, subject)
    select ${db.now}, a.id, a.login, ${action}, ${subject} from accounts a where a.id = ${actor.id}`)
}

/** Newest first; `words` are found in the actor, the action or the subject. */
export function listAudit(db: Queryable, words: string, slice: Slice): Promise<Listed<AuditEntry>> {
  const pattern = `%${words.replaceAll(/[\\%_]/g, '\\$&')}%`
  const found = words ? sql`where actor_login ilike ${pattern} or action ilike ${pattern} or subject ilike ${pattern}` : sql``
  return listed(db, { columns: sql`*`, source: sql`audit_entries ${found}`, order: sql`id desc` }, slice)
}
