import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

/** A line of the audit log. */
export interface AuditEntry {
  id: number
  at: Date
  actor_id: number | null
  actor_login: string
  action: string
  subject: string
  /** Where the act came from, if the actor has no account. */
  via: 'command line' | null
}

/** The operator at the command line, named by the operating system. */
export interface Operator {
  operator: string
}

/** Who acts on the site as a whole: a site admin, or the operator. */
export type Administrator = { id: number } | Operator

/** The actor for `publish`. An operator has no account: payloads show the ghost, and the audit log names the operator. */
export const actorOf = (admin: Administrator): { id: number } => ('operator' in admin ? { id: 0, ...admin } : admin)

/** Records in the transaction of an act who did it. `subject` names what was changed, such as a login or `owner/name`. */
export async function recordAudit(db: Queryable, actor: Administrator, action: string, subject: string) {
  if ('operator' in actor) {
    await db.query(sql`
      insert into audit_entries (at, actor_login, action, subject, via)
      values (${db.now}, ${actor.operator}, ${action}, ${subject}, 'command line')`)
    return
  }
  await db.query(sql`
    insert into audit_entries (at, actor_id, actor_login, action, subject)
    select ${db.now}, a.id, a.login, ${action}, ${subject} from accounts a where a.id = ${actor.id}`)
}

export interface AuditFilter {
  /** Found in the actor, the action or the subject. */
  words?: string | undefined
  actor?: string | undefined
  /** An action such as `user.suspend`, or the beginning of several: `user` or `user.`. */
  action?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/** Newest first, unless `order` is `asc`. */
export function listAudit(
  db: Queryable,
  filter: AuditFilter,
  slice: Slice,
  order: 'asc' | 'desc' = 'desc',
): Promise<Listed<AuditEntry>> {
  const source = sql`audit_entries where ${meets(filter)}`
  return listed(db, { columns: sql`*`, source, order: order === 'asc' ? sql`id` : sql`id desc` }, slice)
}

/** A page starts after the entry `after` or ends before the entry `before`; with neither, it is the first one. */
export interface AuditPage {
  after?: number | undefined
  before?: number | undefined
  limit: number
  order: 'asc' | 'desc'
}

/** A page without a count, so that it costs the same however long the log is. Returns the ids to go on from, where there are more entries. */
export async function readAuditPage(db: Queryable, filter: AuditFilter, { after, before, limit, order }: AuditPage) {
  const backwards = before !== undefined
  const from = backwards ? before : after
  const upwards = (order === 'asc') !== backwards
  const beyond = from === undefined ? sql`true` : upwards ? sql`id > ${from}` : sql`id < ${from}`
  const found = await db.rows<AuditEntry>(sql`
    select * from audit_entries where ${meets(filter)} and ${beyond} order by ${upwards ? sql`id` : sql`id desc`} limit ${limit + 1}`)
  const more = found.length > limit
  const rows = backwards ? found.slice(0, limit).reverse() : found.slice(0, limit)
  return {
    rows,
    prev: (backwards ? more : after !== undefined) ? rows[0]?.id : undefined,
    next: (backwards ? rows.length > 0 : more) ? rows.at(-1)?.id : undefined,
  }
}

const meets = (filter: AuditFilter): Sql => conditionsOf(filter).reduce((all, next) => sql`${all} and ${next}`)

function conditionsOf({ words, actor, action, since, until }: AuditFilter): Sql[] {
  const pattern = words && `%${escaped(words)}%`
  const kind = action && `${escaped(action.replace(/\.$/, ''))}.%`
  return [
    sql`true`,
    ...(pattern ? [sql`(actor_login ilike ${pattern} or action ilike ${pattern} or subject ilike ${pattern})`] : []),
    ...(actor ? [sql`lower(actor_login) = lower(${actor})`] : []),
    ...(kind ? [sql`(action = ${action} or action like ${kind})`] : []),
    ...(since ? [sql`at >= ${since}`] : []),
    ...(until ? [sql`at <= ${until}`] : []),
  ]
}

const escaped = (words: string) => words.replaceAll(/[\\%_]/g, '\\$&')
