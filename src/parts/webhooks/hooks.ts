import { type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import type { Config } from './config.ts'
import { type HookTarget, hooksOf } from './hook-target.ts'
import type { PausedReason } from './pauses.ts'
import type { SealedSecrets } from './secrets.ts'

export interface Hook extends Config, SealedSecrets {
  id: number
  repo_id: number | null
  org_id: number | null
  target_id: number
  target_type: HookTarget['type']
  /** The user responsible for it: it sends as long as they may administer the repository or organization. Null if there is none. */
  creator_id: number | null
  maker: string | null
  paused_reason: PausedReason | null
  paused_at: Date | null
  active: boolean
  events: string[]
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
  last_code: number | null
  last_status: string | null
  last_message: string | null
  last_delivered_at: Date | null
  failures: number
  throttled_until: Date | null
  /** The last delivery was more than 30 days ago, so it is not shown any more. */
  quiet: boolean
}

const columns = (now: Date) => sql`h.*, (select a.login from accounts a where a.id = h.creator_id) as maker,
  coalesce(h.last_delivered_at < ${now}::timestamptz - interval '30 days', false) as quiet`

export function listHooks(db: Queryable, target: HookTarget, slice: Slice): Promise<Listed<Hook>> {
  return listed(db, { columns: columns(db.now), source: sql`hooks h where ${hooksOf(target)}`, order: sql`h.id` }, slice)
}

export async function loadHook(db: Queryable, target: HookTarget, id: number): Promise<Hook> {
  const hook = await db.first<Hook>(sql`select ${columns(db.now)} from hooks h where h.id = ${id} and ${hooksOf(target)}`)
  if (!hook) throw missing()
  return hook
}

/** The hook of a target that has one at most. */
export function loadOnlyHook(db: Queryable, target: HookTarget): Promise<Hook> {
  return db.load<Hook>(sql`select ${columns(db.now)} from hooks h where ${hooksOf(target)}`)
}
