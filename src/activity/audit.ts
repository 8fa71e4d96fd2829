import { json, type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { type AuditAction, isAudited } from './audited-acts.ts'

/** A line of the audit log. */
export interface AuditEntry {
  id: number
  at: Date
  actor_id: number | null
  actor_login: string
  action: string
  subject: string
  /** Where the act came from, if the actor has no account. */
  via: 'command line' | 'application' | null
}

/** The operator at the command line, named by the operating system. */
export interface Operator {
  operator: string
}

/** Who acts on the site as a whole: a site admin, or the operator. */
export type Administrator = { id: number } | Operator

/** The actor for `publish`. An operator has no account: payloads show the ghost, and the audit log names the operator. */
export const actorOf = (admin: Administrator): { id: number } => ('operator' in admin ? { id: 0, ...admin } : admin)

/** An OAuth application that acts by its own secret. */
export interface ActingApplication {
  application: string
}

type Actor = Administrator | ActingApplication

/** The columns of the actor. The row has the login, because accounts can be renamed and deleted. */
function actorColumns(actor: Actor): Sql {
  if ('operator' in actor) return sql`null::bigint, ${actor.operator}::text, 'command line'`
  if ('application' in actor) return sql`null::bigint, ${actor.application}::text, 'application'`
  return sql`(select a.id from accounts a where a.id = ${actor.id}),
    coalesce((select a.login from accounts a where a.id = ${actor.id}), 'ghost'), null::text`
}

const columns = sql`at, actor_id, actor_login, via, action, subject`

/** Records in the transaction of an act who did it. `subject` names what was changed, such as a login or `owner/name`. */
export async function recordAudit(db: Queryable, actor: Actor, action: AuditAction, subject: string) {
  await db.query(sql`insert into audit_entries (${columns}) select ${db.now}, ${actorColumns(actor)}, ${action}, ${subject}`)
}

/** An act that is published, with the facts that name its subject. */
interface PublishedAct {
  act: string
  repo_id?: number
  team_id?: number
  member_id?: number
}

/** Records those of the published acts that belong in the audit log. The subject is like `owner/name: login` or `@org/team: login`. */
export async function recordPublished(
  db: Queryable,
  actor: Actor,
  where: { org_id?: number; repo_id?: number },
  published: PublishedAct[],
) {
  const audited = published.filter(({ act }) => isAudited(act))
  if (!audited.length) return
  const acts = audited.map(({ act, repo_id, team_id, member_id }) => ({
    act,
    repo_id: repo_id ?? where.repo_id,
    team_id,
    member_id,
  }))
  await db.query(sql`
    insert into audit_entries (${columns})
    select ${db.now}, ${actorColumns(actor)}, x.act, concat_ws(': ',
      coalesce('@' || org.login || '/' || t.slug, case when r.id is null then org.login end), o.login || '/' || r.name, m.login)
    from jsonb_to_recordset(${json(acts)}::jsonb) as x (act text, repo_id bigint, team_id bigint, member_id bigint)
      left join accounts org on org.id = ${where.org_id ?? null}::bigint left join teams t on t.id = x.team_id
      left join repositories r on r.id = x.repo_id left join accounts o on o.id = r.owner_id left join accounts m on m.id = x.member_id`)
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
