import { recordOutcomes } from '#parts/webhooks/sending/outcomes.ts'
import { sql } from '#platform/database.ts'
import { expect, type Forge, type Person } from './forge.ts'

/** The response of a receiver, as it is recorded. */
export interface Came {
  content_type?: string
  status?: string
  status_code?: number
  /** In seconds. */
  duration?: number
  response_headers?: Record<string, string> | null
  response_body?: string | null
}

/** Records an outcome for all pending deliveries of a hook, for tests without a worker. */
export async function settle(forge: Forge, hook: { id: number }, { content_type = 'application/json', ...came }: Came = {}) {
  const { db } = forge.belfry
  const waiting = await db.rows<{ id: number }>(sql`select id from pending_deliveries where hook_id = ${hook.id} order by id`)
  const answered = {
    status: 'OK',
    status_code: 200,
    duration: 0.034,
    response_headers: { 'content-type': 'text/plain' },
    response_body: 'ok',
  }
  const outcomes = waiting.map(({ id }) => ({
    ...{ id, hook_id: hook.id, delivered_at: db.now, url: 'https://hooks.example/belfry', retry_in: null, retry_after: null },
    request_headers: { 'User-Agent': 'Belfry-Hookshot/0', 'content-type': content_type, 'webhook-timestamp': '1770091506' },
    ...answered,
    ...came,
  }))
  await recordOutcomes(db, outcomes)
}

/** Sends a ping and records its outcome. */
export async function pinged(forge: Forge, person: Person, hooks: string, hook: { id: number }, came?: Came) {
  await expect(204, await person.post(`${hooks}/${hook.id}/pings`))
  await settle(forge, hook, came)
}
