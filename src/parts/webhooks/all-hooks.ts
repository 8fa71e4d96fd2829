import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import type { Hook } from './hooks.ts'

/** A hook as operators see it: with the name of what it belongs to, and without its secret and the path of its address. */
export type ListedHook = Pick<
  Hook,
  'id' | 'target_type' | 'active' | 'events' | 'paused_reason' | 'last_code' | 'last_status' | 'last_delivered_at' | 'failures'
> & { target: string; host: string; waiting: number; next_attempt_at: Date | null }

/** How many waiting deliveries of a hook are counted. */
export const mostCounted = 10_000

const columns = sql`h.id, h.target_type, h.active, h.events, h.paused_reason, h.last_code, h.last_status, h.last_delivered_at, h.failures,
  coalesce(o.login || '/' || r.name, a.login, p.slug, '-') as target, coalesce(nullif(split_part(split_part(h.url, '/', 3), '@', -1), ''), h.url) as host,
  (select count(*)::integer from (select from pending_deliveries d where d.hook_id = h.id limit ${mostCounted}) counted) as waiting,
  (select min(d.ready_at) from (select ready_at from pending_deliveries d where d.hook_id = h.id order by d.id limit ${mostCounted}) d) as next_attempt_at`

const source = sql`hooks h left join repositories r on r.id = h.repo_id left join accounts o on o.id = r.owner_id
  left join accounts a on a.id = h.org_id left join apps p on p.id = h.app_id`

/** The last delivery of an active hook was not taken. */
const failing = sql`(h.active and coalesce(h.last_code, 0) >= 400)`

/** The hooks of all repositories, organizations and apps, or those whose last delivery failed. */
export function listAllHooks(db: Queryable, only: { failing: boolean }, slice: Slice): Promise<Listed<ListedHook>> {
  const condition: Sql = only.failing ? failing : sql`true`
  return listed(
    db,
    {
      columns,
      source: sql`${source} where h.deleted_at is null and ${condition}`,
      counted: sql`hooks h where h.deleted_at is null and ${condition}`,
      order: only.failing ? sql`h.failures desc, h.id` : sql`h.id`,
    },
    slice,
  )
}

/** A hook by its id, whatever it belongs to. */
export async function findHook(db: Queryable, id: number): Promise<Hook> {
  const hook = await db.first<Hook>(
    sql`select h.*, null as maker, false as quiet from hooks h where h.id = ${id} and h.deleted_at is null`,
  )
  if (!hook) throw missing()
  return hook
}

/** For metrics. */
export async function countHooks(db: Queryable): Promise<Record<'active' | 'failing' | 'inactive' | 'paused', number>> {
  return db.load(sql`
    select count(*) filter (where h.active and not ${failing})::float8 as active, count(*) filter (where ${failing})::float8 as failing,
      count(*) filter (where not h.active and h.paused_reason is null)::float8 as inactive,
      count(*) filter (where h.paused_reason is not null)::float8 as paused
    from hooks h where h.deleted_at is null`)
}

const isDue = (now: Date) => sql`ready_at <= ${now}`
/** Ids are in the order of creation, so these are the oldest. */
const oldestWaiting = sql`(select ready_at, created_at from pending_deliveries order by id limit ${mostCounted}) waiting`

type Waiting = Record<'due' | 'postponed', number>

export async function countWaiting(db: Queryable): Promise<Waiting> {
  return db.load(sql`
    select count(*) filter (where ${isDue(db.now)})::float8 as due, count(*) filter (where not ${isDue(db.now)})::float8 as postponed
    from ${oldestWaiting}`)
}

/** For how long the oldest has waited. */
export async function secondsWaited(db: Queryable): Promise<Waiting> {
  const since = sql`coalesce(extract(epoch from ${db.now}::timestamptz - min(created_at)`
  return db.load(sql`
    select ${since} filter (where ${isDue(db.now)})), 0)::float8 as due, ${since} filter (where not ${isDue(db.now)})), 0)::float8 as postponed
    from ${oldestWaiting}`)
}
