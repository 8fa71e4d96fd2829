import { type Database, sql } from '#platform/database.ts'
import { type Reason, Refusal } from '#platform/errors.ts'
import { networkLimits } from '#platform/network.ts'

/** The maximum number of attempts at a subject within a period. */
export interface Limit {
  subject: string
  most: number
}

/** The limits of attempts from an address, in all networks that count it. */
export function limitsFrom(what: string, address: string, most: number): Limit[] {
  return networkLimits(address, most, 'counted').map((limit) => ({ subject: `${what} from ${limit.network}`, most: limit.most }))
}

interface Reserved {
  outcome: 'reserved' | 'busy' | 'refused'
  reservation: number
  retry_at: Date | null
}

export async function reserveAttempt(db: Database, limits: Limit[], minutes: number, pending: boolean): Promise<Reserved> {
  // PostgreSQL text cannot contain a null character.
  const subjects = limits.map(({ subject }) => subject.replaceAll('\0', '').slice(0, 300))
  const most = limits.map((limit) => limit.most)
  const row = await db.first<Reserved>(sql`
    select outcome, reservation, retry_at
    from reserve_attempt(${subjects}::text[], ${most}::integer[], ${minutes}::integer * interval '1 minute', ${pending}::boolean, ${db.now}::timestamptz)`)
  if (!row) throw new Error('reserve_attempt returned no row')
  return row
}

/** A right guess does not count. */
export async function refundAttempt(db: Database, reservation: number) {
  await db.query(sql`delete from attempts where reservation = ${reservation}`)
}

/** A wrong guess counts until it expires. */
export async function settleAttempt(db: Database, reservation: number) {
  await db.query(sql`update attempts set pending = false where reservation = ${reservation}`)
}

/** Counts an attempt that is not a guess, before its work is done. Refuses it if there were too many. */
export async function countAttempt(db: Database, limits: Limit[], minutes: number, message: string) {
  const { outcome, retry_at } = await reserveAttempt(db, limits, minutes, false)
  if (outcome !== 'reserved') throw tooMany(db, 'rate_limited', message, retry_at)
}

export function tooMany(db: Database, reason: Reason, message: string, retry_at: Date | null) {
  const seconds = retry_at ? Math.ceil((retry_at.getTime() - db.now.getTime()) / 1000) : 1
  return new Refusal(reason, message, undefined, Math.max(1, seconds))
}
