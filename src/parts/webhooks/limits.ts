import { listening } from '#activity/outbox/outbox.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { subscribedEvents } from './events.ts'
import { type HookTarget, hooksOf } from './hook-target.ts'
import type { Hook } from './hooks.ts'

/** How many hooks of one target may subscribe to the same event. */
const most = 250

/** Hooks with the same config must differ in their events. Each stream listener has a hook of its own, so these may repeat. */
export async function checkDuplicate(
  db: Queryable,
  target: HookTarget,
  { id, events, url, content_type, insecure_ssl }: Pick<Hook, 'id' | 'events' | 'url' | 'content_type' | 'insecure_ssl'>,
) {
  if (url === listening || !events.length) return
  const { rowCount } = await db.query(sql`
    select from hooks h where ${hooksOf(target)} and h.id <> ${id} and h.url = ${url} and h.content_type = ${content_type}
      and h.insecure_ssl = ${insecure_ssl} and (h.events && ${[...events, '*']} or (${events.includes('*')} and h.events <> '{}')) limit 1`)
  if (rowCount) throw invalid({ resource: 'Hook', code: 'custom', message: `Hook already exists on this ${target.type}` })
}

/** Checks only events that are new for the hook. */
export async function checkHookCount(db: Queryable, target: HookTarget, { id, events }: Pick<Hook, 'id' | 'events'>) {
  const full = await db.first<{ event: string }>(sql`
    select event from unnest(${subscribedEvents(events, target.type)}::text[]) event
    where (select count(*) from hooks h where ${hooksOf(target)} and h.id <> ${id} and h.events && array[event, '*']) >= ${most}
    limit 1`)
  if (!full) return
  const message = `The "${full.event}" event cannot have more than ${most} hooks`
  throw invalid({ resource: 'Hook', code: 'custom', message })
}
