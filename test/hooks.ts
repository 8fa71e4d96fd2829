import { fillIn } from '#activity/outbox/addresses.ts'
import { sql } from '#platform/database.ts'
import { expect, type Forge, openForge, type Person } from './forge.ts'

export const hooks = '/repos/ada/engine/hooks'
export const url = 'https://ci.example/hook'

/** Ada's repository, whose hooks are at `hooks`. */
export async function openWithEngine(settings: Record<string, string> = {}) {
  const forge = await openForge({ settings })
  const ada = await forge.person('ada')
  await ada.owns('engine')
  return Object.assign(forge, { ada })
}

export const make = async (person: Person, body: Record<string, unknown> = { config: { url } }) =>
  expect(201, await person.post(hooks, body))

/** Pending deliveries of a hook, oldest first. */
export async function waiting({ belfry, web }: Forge, hook_id: number) {
  const rows = await belfry.db.rows<{ event: string; action: string | null; repo_id: number | null; body: string }>(sql`
    select u.event, u.action, u.repo_id, p.body from pending_deliveries u join payloads p on p.id = u.payload_id
    where u.hook_id = ${hook_id} order by u.id`)
  return rows.map(({ body, ...row }) => ({ ...row, payload: JSON.parse(fillIn(body, web)) }))
}
