import { sql } from '#platform/database.ts'
import type { Forge } from './forge.ts'

interface Filling {
  repo_id?: number
  event?: string
  body?: string | null
  response_headers?: object | null
  response_body?: string | null
}

/** Recorded deliveries, one for each status code. Returns their ids, oldest first. */
export async function fillDeliveries(
  { belfry: { db } }: Forge,
  hook: { id: number },
  codes: number[],
  { repo_id, event = 'push', body = '{"ref":"refs/heads/main"}', response_headers = null, response_body = null }: Filling = {},
): Promise<number[]> {
  const headers = { 'User-Agent': 'Belfry-Hookshot/test', 'content-type': 'application/json', 'X-Hub-Signature-256': 'sha256=00' }
  await db.query(sql`select open_delivery_day(delivery_day(${db.now}))`)
  const rows = await db.rows<{ id: number }>(sql`
    with told as (
      insert into payloads (id, repo_id, event, body, created_at)
      values (delivery_id(${db.now}), ${repo_id ?? null}, ${event}, ${body}, ${db.now}) returning *
    )
    insert into deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, delivered_at, duration, status, status_code,
      url, request_headers, response_headers, response_body)
    select delivery_id(${db.now}), ${hook.id}, told.id, repo_id, gen_random_uuid(), event, null, false, ${db.now}, 0.123456,
      case when code < 400 then 'OK' else 'Invalid HTTP Response: ' || code end, code, 'https://example.com/', ${JSON.stringify(headers)}::jsonb,
      ${response_headers && JSON.stringify(response_headers)}::jsonb, ${response_body}
    from told, unnest(${codes}::integer[]) with ordinality as listed (code, place) order by place
    returning id`)
  return rows.map(({ id }) => id)
}
