import { acts, type LoggedEvent, meaningOf, webhooksOf } from '#activity/acts.ts'
import type { DeliveredPush } from '#activity/facts.ts'
import type { WebhookEvent } from '#activity/outbox/outbox.ts'
import { subscribesTo } from '#activity/outbox/subscribed-hooks.ts'
import { type Sql, sql } from '#platform/database.ts'

/** An event of the log. */
export type Logged = LoggedEvent & { id: number; repo_id: number; actor_id: number; created_at: Date }

/** The webhook events of each entry in a timeline, by the name of the entry. */
const webhooks = new Map(
  (Object.keys(acts) as (keyof typeof acts)[]).flatMap((act) => {
    const { timeline } = meaningOf(act)
    return timeline ? [[timeline, webhooksOf(act)]] : []
  }),
)

/** A condition over the log's event `e`: a hook with these events gets deliveries of it. */
export function deliveredTo(events: string[]): Sql {
  const names = [...webhooks].flatMap(([name, each]) => (each.some(({ event }) => subscribesTo({ events }, event)) ? name : []))
  const types = [...new Set(names.map((name) => name.split(' ')[0]))]
  return sql`e.type = any(${types}::text[])
    and concat_ws(' ', e.type, e.payload->>'action', e.payload->>'ref_type') = any(${names}::text[])`
}

/** The webhook events of an event. The log has too few facts about a push, so `delivery` is read from git. */
export function webhookEventsOf({ type, payload }: Logged, delivery: DeliveredPush | undefined): WebhookEvent[] {
  const { action, ...facts } = { action: undefined, ...payload }
  const word = action ?? ('ref_type' in payload ? payload.ref_type : undefined)
  const found = webhooks.get(word ? `${type} ${word}` : type) ?? []
  return type === 'PushEvent' && !delivery ? [] : found.map((webhook) => ({ ...webhook, facts: { ...facts, delivery } }))
}
