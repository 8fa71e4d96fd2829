import { EventsSchema, subscribedEvents } from '#parts/webhooks/events.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { enqueue } from '#platform/queue.ts'
import { type Static, Type } from '#platform/schema.ts'

/** A period of the event log that a hook is sent again. */
export interface Replay {
  id: number
  hook_id: number
  requester_id: number | null
  since: Date
  until: Date
  events: string[]
  status: 'queued' | 'running' | 'done' | 'cancelled'
  /** The number of events; null until they are counted. */
  total: number | null
  told: number
  passed_over: number
  place_at: Date
  place: number
  paced_until: Date
  created_at: Date
  finished_at: Date | null
}

/** Newest first. */
export function listReplays(db: Queryable, hook: { id: number }, slice: Slice): Promise<Listed<Replay>> {
  const source = sql`replays p where p.hook_id = ${hook.id}`
  return listed(db, { columns: sql`p.*`, source, order: sql`p.id desc` }, slice)
}

export async function loadReplay(db: Queryable, hook: { id: number }, id: number): Promise<Replay> {
  const found = await db.first<Replay>(sql`select * from replays where id = ${id} and hook_id = ${hook.id}`)
  if (!found) throw missing()
  return found
}

export const NewReplay = Type.Object({
  since: Type.String({ maxLength: 100 }),
  until: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100 })),
  events: Type.Optional(Type.Unsafe<string[] | null>({ ...EventsSchema, type: ['array', 'null'] })),
})
type ReplayInput = Static<typeof NewReplay>

/** How far back a replay may go, in days: as far as deliveries are kept. */
const furthest = 30

/** Without a requester: at the command line. */
export async function createReplay(
  db: Transaction,
  requester: { id: number } | null,
  hook: Hook,
  input: ReplayInput,
): Promise<Replay> {
  if (!hook.active) {
    throw new Refusal('invalid', `This webhook is ${hook.paused_reason ? 'paused' : 'inactive'}. Set it to active first.`)
  }
  const { since, until } = readPeriod(input, db.now)
  const events = readEvents(input, hook)
  const replay = await db.first<Replay>(sql`
    insert into replays (hook_id, requester_id, since, until, events, status, place_at, paced_until, created_at)
    values (${hook.id}, ${requester?.id ?? null}, ${since}, ${until}, ${events}, 'queued', ${since}, ${db.now}, ${db.now})
    on conflict do nothing returning *`)
  if (!replay) throw new Refusal('invalid', 'A replay of this hook is running. Cancel it or wait until it ends.')
  await enqueue(db, 'replay', { replay_id: replay.id }, { key: jobKey(replay) })
  return replay
}

export const jobKey = ({ id }: { id: number }) => `replay ${id}`

/** A period ends now at the latest. */
function readPeriod({ since: from, until: to }: ReplayInput, now: Date) {
  const [since, asked] = [parseIsoDate(from), to == null ? now : parseIsoDate(to)]
  if (!since) throw fault('since', 'since must be a time in ISO 8601')
  if (!asked) throw fault('until', 'until must be a time in ISO 8601')
  const until = asked < now ? asked : now
  if (since >= until) throw fault('since', 'since must be before until')
  if (since.getTime() < now.getTime() - furthest * 86_400_000) {
    throw fault('since', `since must be no more than ${furthest} days ago`)
  }
  return { since, until }
}

function readEvents({ events }: ReplayInput, { events: own, target_type }: Hook): string[] {
  if (events == null) return own
  const subscribed = subscribedEvents(own, target_type)
  const others = events.filter((event) => !subscribed.includes(event))
  if (others.length) throw fault('events', `This hook does not subscribe to: ${[...new Set(others)].join(', ')}`)
  if (!events.length) throw fault('events', 'events must name one event or more')
  return [...new Set(events)]
}

const fault = (field: string, message: string) => invalid({ resource: 'HookReplay', code: 'invalid', field, message })

/** Deliveries that are already stored are sent. */
export async function cancelReplay(db: Transaction, { id }: Replay) {
  const { rowCount } = await db.query(sql`
    update replays set status = 'cancelled', finished_at = ${db.now} where id = ${id} and status in ('queued', 'running')`)
  if (!rowCount) throw new Refusal('invalid', 'This replay has ended.')
}
