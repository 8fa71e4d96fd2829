import { type Cast, writePayload } from '#hosting/payloads/compose-payloads.ts'
import type { News } from '#hosting/payloads/news.ts'
import { ghost } from '#hosting/payloads/payload-context.ts'
import { loadMentioned } from '#hosting/payloads/referenced-records.ts'
import { loadToldPulls } from '#hosting/pulls/pulls.ts'
import { type Repository, repositoryColumns, repositorySource } from '#hosting/repositories/repositories.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { addressed } from './addresses.ts'
import { type Handful, handFor } from './local-dispatch.ts'

/** Where a hook sends to whose owner listens by a stream. */
export const listening = 'belfry:listen'
/** How long a delivery waits for somebody who listens, in seconds. */
export const patience = 30
/** What is larger is not sent, and recorded as a failure. In bytes. */
export const largest = 25 * 1024 * 1024
/** What a transaction touches that stores deliveries, see Transaction.touch. */
export const deliveriesTopic = 'deliveries'

/**
 * The one door to webhooks: where hooks listen, stores what they are told and a delivery for each, in the transaction of the act itself.
 * Called when all of the act is written, since what is told is what the database has then; and before something is deleted.
 */
export async function announce(db: Transaction, actor: { id: number }, repo: { id: number }, ...news: News[]) {
  if (!news.length) return
  const hooks = await findListeners(db, repo.id, news)
  const heard = news.filter(({ event }) => hooks.some((hook) => hears(hook, event)))
  if (!heard.length) return
  const scene = await readScene(db, actor.id, repo.id)
  if (!scene) return
  const mentioned = await loadMentioned(
    db,
    heard.map(({ payload }) => ({ repo_id: repo.id, payload })),
    loadToldPulls,
  )
  const told = heard.map((one) => ({
    ...{ event: one.event, action: actionOf(one) },
    body: writePayload(one, { repo: scene.repo, mentioned }, scene),
    hooks: hooks.filter((hook) => hears(hook, one.event)),
  }))
  await storeDeliveries(db, repo.id, told)
}

/** Where something happened, whose that is, and who did it. */
async function readScene(db: Queryable, actor_id: number, repo_id: number): Promise<(Cast & { repo: Repository }) | undefined> {
  const repo = await db.first<Repository & { owner_bio: string | null; owner_email: string | null; actor: Person | null }>(sql`
    select ${repositoryColumns}, o.bio as owner_bio, o.email as owner_email,
      (select to_json(a) from (select ${personColumns} from accounts a where a.id = ${actor_id}) a) as actor
    from ${repositorySource} where r.id = ${repo_id}`)
  if (!repo) return undefined
  const { owner_id: id, owner_type: type, owner_login: login, owner_bio: bio, owner_email: email, actor } = repo
  return { repo, owner: { id, type, login, bio, email }, sender: actor ?? ghost }
}

/** Whether any hook would be told of it, for news that takes work to gather. */
export async function isHeard(db: Queryable, repo: { id: number }, event: News['event']): Promise<boolean> {
  return (await findListeners(db, repo.id, [{ event }])).length > 0
}

/** A hook that hears of something, with what a sender needs to know of it. */
export interface Listener {
  id: number
  events: string[]
  url: string
  content_type: 'json' | 'form'
  insecure_ssl: boolean
  secret: Buffer | null
  former_secret: Buffer | null
  former_secret_until: Date | null
  target_id: number
  target_type: 'repository' | 'organization'
  failures: number
  throttled_until: Date | null
}

export const listenerColumns = sql`h.id, h.events, h.url, h.content_type, h.insecure_ssl, h.secret, h.former_secret, h.former_secret_until, h.target_id,
  h.target_type, h.failures, h.throttled_until`

function findListeners(db: Queryable, repo_id: number, news: Pick<News, 'event'>[]): Promise<Listener[]> {
  const events = [...new Set(news.map(({ event }) => event)), '*']
  return db.rows(sql`
    select ${listenerColumns} from hooks h where h.repo_id = ${repo_id} and h.active and h.deleted_at is null and h.events && ${events}
    union all
    select ${listenerColumns} from repositories r join hooks h on h.org_id = r.owner_id
    where r.id = ${repo_id} and h.active and h.deleted_at is null and h.events && ${events}`)
}

function hears({ events }: Listener, event: string) {
  return events.includes(event) || events.includes('*')
}

/** What happened, told to those who hear of it. */
export interface Told {
  event: string
  action: string | null
  body: string
  hooks: Listener[]
}

export async function storeDeliveries(db: Transaction, repo_id: number | null, news: Told[]) {
  const told = news.map((one) => ({ ...one, body: addressed(db, one.body) }))
  const hand = handFor(db)
  const pairs = told.flatMap(({ hooks }, place) =>
    hooks.map((hook) => ({ place: place + 1, hook, sender: hook.url === listening ? null : hand(hook) })),
  )
  const stored = await db.rows<Stored>(sql`
    select * from store_deliveries(${db.now}, ${repo_id}, ${told.map(({ event }) => event)}::text[], ${told.map(({ action }) => action)}::text[],
      ${told.map(({ body }) => (Buffer.byteLength(body) > largest ? null : body))}::text[], ${pairs.map(({ place }) => place)}::integer[],
      ${pairs.map(({ hook }) => hook.id)}::bigint[], ${pairs.map(({ hook }) => (hook.url === listening ? patience : 0))}::double precision[],
      ${pairs.map(({ sender }) => sender)}::bigint[])`)
  db.touch(deliveriesTopic, ...handfulsOf(told, pairs, stored))
}

interface Stored {
  payload_id: number
  hook_id: number
  id: number
  guid: string
  sender: number | null
}

/** What of it goes straight into a sender's hands. Payloads have their ids in the order in which they were told. */
function handfulsOf(told: Told[], pairs: { hook: Listener }[], stored: Stored[]): Handful[] {
  const hooks = new Map(pairs.map(({ hook }) => [hook.id, hook]))
  const letters = [...Map.groupBy(stored, ({ payload_id }) => payload_id)].toSorted(([one], [other]) => one - other)
  return letters.flatMap(([payload_id, rows], place) => {
    const { event = '', body = '' } = told[place] ?? {}
    const deliveries = rows.flatMap(({ id, guid, hook_id, sender }) => {
      const hook = sender === null ? undefined : hooks.get(hook_id)
      return hook ? { id, guid, hook } : []
    })
    const sender = rows.find((row) => row.sender !== null)?.sender
    const rest = deliveries.length < rows.length
    return sender ? { sender, payload_id, event, body, deliveries, rest } : []
  })
}

export function actionOf({ payload }: News): string | null {
  return 'action' in payload && typeof payload.action === 'string' ? payload.action : null
}
