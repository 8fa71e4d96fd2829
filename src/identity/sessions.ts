import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { digest, randomText } from '#platform/secrets.ts'
import { type Account, accountColumns } from './accounts.ts'

export interface Session {
  id: number
  address: string
  user_agent: string
  awaits_code: boolean
  created_at: Date
  last_seen_at: Date
  /** When the user last entered the password in this session. */
  confirmed_at: Date | null
}

/** An unused session expires after this time. */
const idle = sql`interval '30 days'`

/** A session that waits for a one-time code expires sooner. */
const half = sql`interval '15 minutes'`

/** The client of a session, for the list of sessions. */
export interface Origin {
  address: string
  user_agent: string
}

/** One character more than before cookies had a prefix on https, see web/cookies.ts. */
const newSessionToken = () => randomText(41)

/** Returns the token for the cookie. The database stores its digest only. */
export async function openSession(db: Transaction, user: Account, origin: Origin, awaits_code: boolean): Promise<string> {
  const token = newSessionToken()
  await db.query(sql`
    insert into sessions (user_id, digest, address, user_agent, awaits_code, created_at, last_seen_at, confirmed_at, expires_at)
    values (${user.id}, ${digest(token)}, ${origin.address}, ${origin.user_agent.slice(0, 300)}, ${awaits_code}, ${db.now}, ${db.now},
      ${db.now}, ${db.now}::timestamptz + ${awaits_code ? half : idle})`)
  return token
}

/**
 * Gives the session another token, for a cookie with a prefix. The old one is valid for a minute, for requests that are already under way;
 * undefined if it was renewed before.
 */
export async function renewSession(db: Queryable, { id }: Session): Promise<{ id: number; token: string } | undefined> {
  const token = newSessionToken()
  const minute = sql`${db.now}::timestamptz + interval '1 minute'`
  const row = await db.first<{ id: number }>(sql`
    with old as (update sessions set expires_at = ${minute} where id = ${id} and expires_at > ${minute} returning *)
    insert into sessions (user_id, digest, address, user_agent, awaits_code, created_at, last_seen_at, confirmed_at, expires_at)
    select user_id, ${digest(token)}, address, user_agent, awaits_code, created_at, ${db.now}, confirmed_at,
      ${db.now}::timestamptz + case when awaits_code then ${half} else ${idle} end
    from old returning id`)
  return row && { id: row.id, token }
}

export async function findSession(db: Queryable, token: string): Promise<{ session: Session; user: Account } | undefined> {
  const row = await db.first<Account & { session: Session }>(sql`
    select ${accountColumns}, json_build_object('id', s.id, 'address', s.address, 'user_agent', s.user_agent, 'awaits_code', s.awaits_code,
      'created_at', s.created_at, 'last_seen_at', s.last_seen_at, 'confirmed_at', s.confirmed_at) as session
    from sessions s join accounts a on a.id = s.user_id
    where s.digest = ${digest(token)} and s.expires_at > ${db.now} and a.suspended_at is null`)
  if (!row) return undefined
  const { session, ...user } = row
  const [created_at, last_seen_at] = [new Date(session.created_at), new Date(session.last_seen_at)]
  const confirmed_at = session.confirmed_at && new Date(session.confirmed_at)
  return { user, session: { ...session, created_at, last_seen_at, confirmed_at } }
}

/** Writes at most every ten minutes, because every page calls this. */
export async function touchSession(db: Queryable, session: Session) {
  if (session.awaits_code || db.now.getTime() - session.last_seen_at.getTime() < 10 * 60_000) return
  await db.query(sql`
    update sessions set last_seen_at = ${db.now}, expires_at = ${db.now}::timestamptz + ${idle} where id = ${session.id}`)
}

/** Milliseconds for which an entered password counts as confirmation. */
const confirmedFor = 3600_000

export function isConfirmed(db: Queryable, { confirmed_at }: Session): boolean {
  return confirmed_at !== null && db.now.getTime() - confirmed_at.getTime() <= confirmedFor
}

export async function confirmSession(db: Queryable, session: Session) {
  await db.query(sql`update sessions set confirmed_at = ${db.now} where id = ${session.id}`)
}

export function listSessions(db: Queryable, user: Account): Promise<Session[]> {
  return db.rows<Session>(sql`
    select id, address, user_agent, awaits_code, created_at, last_seen_at, confirmed_at from sessions
    where user_id = ${user.id} and expires_at > ${db.now} and not awaits_code order by last_seen_at desc, id desc limit 100`)
}

export async function closeSession(db: Queryable, user: Account, id: number) {
  const { rowCount } = await db.query(sql`delete from sessions where id = ${id} and user_id = ${user.id}`)
  if (!rowCount) throw missing()
}

/** Also called after a change of the password or the second factor. */
export async function closeOtherSessions(db: Queryable, user: Account, keep: Session) {
  await db.query(sql`delete from sessions where user_id = ${user.id} and id <> ${keep.id}`)
}
