import { after } from 'node:test'
import { fillIn } from '#activity/outbox/addresses.ts'
import { sql } from '#platform/database.ts'
import { expect, type Forge, type ForgeOptions, openForge, type Person } from './forge.ts'

export const hooks = '/repos/ada/engine/hooks'
export const url = 'https://ci.example/hook'

/** Ada's repository, whose hooks are at `hooks`. */
export async function openWithEngine(settings: Record<string, string> = {}) {
  const forge = await openForge({ settings })
  const ada = await forge.person('ada')
  await ada.owns('engine')
  return Object.assign(forge, { ada })
}

/** The same for all tests of a file. A hook to a URL is sent a ping at once. */
export async function shareEngine(options: ForgeOptions = {}) {
  const forge = await openForge(options)
  after(() => forge[Symbol.asyncDispose]())
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const hookTo = async (url: string, config = {}, events = ['star']) =>
    expect(201, await ada.post(hooks, { config: { url, content_type: 'json', ...config }, events }))
  const ping = async ({ id }: { id: number }) => expect(204, await ada.post(`${hooks}/${id}/pings`))
  return { forge, ada, db: forge.belfry.db, hookTo, ping }
}

export const make = async (person: Person, body: Record<string, unknown> = { config: { url } }) =>
  expect(201, await person.post(hooks, body))

/** The statuses of all endpoints of a hook: four that read, and four that write. */
export async function hookStatuses(person: Person, hooks: string, id: number) {
  const answers = await Promise.all([
    person.get(hooks),
    person.get(`${hooks}/${id}`),
    person.get(`${hooks}/${id}/config`),
    person.post(`${hooks}/${id}/pings`),
    person.post(hooks, {}),
    person.patch(`${hooks}/${id}`, {}),
    person.patch(`${hooks}/${id}/config`, {}),
    person.delete(`${hooks}/999999`),
  ])
  return answers.map(({ status }) => status)
}

/** Pending deliveries of a hook, oldest first. */
export async function waiting({ belfry, web }: Forge, hook_id: number) {
  const rows = await belfry.db.rows<{ event: string; action: string | null; repo_id: number | null; body: string }>(sql`
    select u.event, u.action, u.repo_id, p.body from pending_deliveries u join payloads p on p.id = u.payload_id
    where u.hook_id = ${hook_id} order by u.id`)
  return rows.map(({ body, ...row }) => ({ ...row, payload: JSON.parse(fillIn(body, web)) }))
}
