import { addressed } from '#activity/outbox/addresses.ts'
import { deliveriesTopic, largest, listening, patience } from '#activity/outbox/outbox.ts'
import { subscribesTo } from '#activity/outbox/subscribed-hooks.ts'
import type { Storage } from '#git/storage.ts'
import { newBudget, type ReadBudget, readDelivery } from '#hosting/pushes/pushed-commits.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'
import { type ComposedPayload, composeReplay, type PastAct } from './compose-replay.ts'
import { deliveredTo, type Logged, webhookEventsOf } from './replayed-events.ts'
import { jobKey, type Replay } from './replays.ts'

/** How many events one run reads. A cancelled replay sends at most these. */
const batch = 50
/** One delivery after the other, in milliseconds: ten a second at most. */
const pace = 100

type Running = Replay & Pick<Hook, 'url' | 'target_type'> & { repo_id: number | null; org_id: number | null }

/** Stores deliveries of the next events, and enqueues itself when there are more. May run any number of times. */
export async function continueReplay(db: Database, storage: Storage, replay_id: number): Promise<void> {
  const replay = await begin(db, replay_id)
  if (!replay) return
  const logged = await readNext(db, replay)
  const past = await gather(db, storage, replay, logged)
  // Events that were not read, because time or space ran out, are left for the next run.
  const [read, done] = [logged.slice(0, past.length), logged.length < batch && past.length === logged.length]
  await db.transaction((transaction) => storeBatch(transaction, replay, read, past, done))
}

/** Undefined when it is over. It ends when its hook is deleted or becomes inactive, or when the hook's repository or organization is deleted. */
async function begin(db: Database, id: number): Promise<Running | undefined> {
  const replay = await db.first<Running & { over: boolean }>(sql`
    select p.*, h.url, h.target_type, h.repo_id, h.org_id, (h.deleted_at is not null or not h.active) as over from replays p join hooks h on h.id = p.hook_id
    where p.id = ${id} and p.status in ('queued', 'running')`)
  if (!replay) return undefined
  if (replay.over || (replay.repo_id ?? replay.org_id) === null) {
    await db.query(sql`update replays set status = 'cancelled', finished_at = ${db.now} where id = ${id}`)
    return undefined
  }
  if (replay.status === 'queued') await count(db, replay)
  return replay
}

async function count(db: Database, replay: Running) {
  const [counted] = await db.customPlanRows<{ total: number }>(sql`
    select count(*) as total from ${repositoriesOf(replay)} r join events e on e.repo_id = r.id
    where e.created_at >= ${replay.since} and e.created_at <= ${replay.until} and ${deliveredTo(replay.events)}`)
  await db.query(sql`
    update replays set status = 'running', total = ${counted?.total ?? 0} where id = ${replay.id} and status = 'queued'`)
}

function repositoriesOf({ repo_id, org_id }: Running) {
  return repo_id === null
    ? sql`(select r.id from repositories r where r.owner_id = ${org_id} and owner_reaches(r))`
    : sql`(select id from repositories where id = ${repo_id})`
}

/** The next events of all repositories, in the order of the log. */
function readNext(db: Database, replay: Running): Promise<Logged[]> {
  const { place_at, place, until, events } = replay
  return db.genericPlanRows<Logged>(sql`
    select e.* from ${repositoriesOf(replay)} r cross join lateral (
      select e.id, e.type, e.payload, e.repo_id, e.actor_id, e.created_at from events e
      where e.repo_id = r.id and e.created_at >= ${place_at} and (e.created_at, e.id) > (${place_at}, ${place})
        and e.created_at <= ${until} and ${deliveredTo(events)}
      order by e.created_at, e.id limit ${batch}) e
    order by e.created_at, e.id limit ${batch}`)
}

/** Reads what it needs from the repositories, before the transaction. All pushes together get as much time and space as one push. */
async function gather(db: Queryable, storage: Storage, { events }: Replay, logged: Logged[]): Promise<PastAct[]> {
  const past: PastAct[] = []
  const whole = newBudget()
  let text = 0
  for (const one of logged) {
    if (text > whole.text / 2 || whole.signal.aborted) break
    const budget = newBudget()
    const push = one.type === 'PushEvent' ? await readPush(db, storage, one, budget) : undefined
    text += whole.text - budget.text + (whole.names - budget.names)
    const delivered = webhookEventsOf(one, push).filter(({ event }) => subscribesTo({ events }, event))
    past.push({ repo_id: one.repo_id, actor_id: one.actor_id, at: one.created_at, events: delivered })
  }
  return past
}

/** Undefined when its commits no longer exist. */
async function readPush(
  db: Queryable,
  storage: Storage,
  { repo_id, payload }: Extract<Logged, { type: 'PushEvent' }>,
  budget: ReadBudget,
) {
  const { ref, before, head: after, size: most } = payload
  if (!storage.has(repo_id)) return undefined
  const push = await readDelivery(db, storage, repo_id, { ref, before, after }, { most, budget })
  return most && !push.head_commit ? undefined : push
}

/** Writes deliveries and the position in the log in one transaction, so that a killed process repeats or loses nothing. */
async function storeBatch(db: Transaction, replay: Running, logged: Logged[], past: PastAct[], done: boolean) {
  // A concurrent deletion of the hook waits, and then finds these deliveries.
  const locked = await db.first<Replay>(sql`
    select p.* from replays p join hooks h on h.id = p.hook_id
    where p.id = ${replay.id} and p.status = 'running' and p.place = ${replay.place} and h.deleted_at is null and h.active
    for update of p for share of h`)
  if (!locked) return
  const composed = await composeReplay(db, past)
  const start = locked.paced_until > db.now ? locked.paced_until : db.now
  const paced_until = await store(db, replay, composed.flat(), start)
  const sent = composed.filter((one) => one.length).length
  const last = logged.at(-1)
  await db.query(sql`
    update replays set told = told + ${sent}, passed_over = passed_over + ${logged.length - sent},
      place_at = ${last?.created_at ?? locked.place_at}, place = ${last?.id ?? locked.place}, paced_until = ${paced_until},
      status = ${done ? 'done' : 'running'}, finished_at = ${done ? db.now : null}
    where id = ${replay.id}`)
  if (done) return
  const minutes = (paced_until.getTime() - db.now.getTime()) / 60_000
  await enqueue(db, 'replay', { replay_id: replay.id }, { key: jobKey(replay), minutes })
}

/** Stores a delivery of each payload at the pace. Returns when the next may follow. */
async function store(db: Transaction, { hook_id, url }: Running, composed: ComposedPayload[], start: Date): Promise<Date> {
  const at = (index: number) => new Date(start.getTime() + index * pace)
  if (!composed.length) return start
  const bodies = composed.map(({ body }) => addressed(db, body))
  await db.query(sql`select open_delivery_day(delivery_day(${db.now}))`)
  await db.query(sql`
    with composed as materialized (
      select delivery_id(${db.now}) as id, repo_id, event, action, body, ready_at
      from unnest(${composed.map(({ repo_id }) => repo_id)}::bigint[], ${composed.map(({ event }) => event)}::text[],
        ${composed.map(({ action }) => action)}::text[], ${bodies.map((body) => (Buffer.byteLength(body) > largest ? null : body))}::text[],
        ${composed.map((_, index) => at(index))}::timestamptz[]) as listed (repo_id, event, action, body, ready_at)
    ), kept as (
      insert into payloads (id, repo_id, event, action, body, created_at) select id, repo_id, event, action, body, ${db.now} from composed
    )
    insert into pending_deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at)
    select delivery_id(${db.now}), ${hook_id}, id, repo_id, gen_random_uuid(), event, action, true, ${db.now},
      ready_at + ${url === listening ? patience : 0} * interval '1 second'
    from composed order by id`)
  db.touch(deliveriesTopic)
  return at(composed.length)
}
