import { type Database, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'

export const snoozeChoices = ['later', 'tomorrow', 'week', 'date'] as const
export type SnoozeChoice = (typeof snoozeChoices)[number]

const hour = 3_600_000
const day = 24 * hour
/** When a thread returns on a day, in the user's time. */
const morning = 8 * hour
const longest = 366 * day

interface Wanted {
  choice: SnoozeChoice
  /** As in `2026-11-16`, for the choice `date`. */
  date?: string | null
  /** Minutes that UTC is ahead of the user's time, as a browser reports them. */
  offset?: number
}

/** When a thread that is snoozed now returns. */
export function snoozeEnd({ choice, date, offset = 0 }: Wanted, now: Date): Date {
  const local = now.getTime() - offset * 60_000
  const today = local - (local % day)
  const from = (start: number) => new Date(start + morning + offset * 60_000)
  if (choice === 'later') return new Date(now.getTime() + 3 * hour)
  if (choice === 'tomorrow') return from(today + day)
  // Days since 1970-01-01, a Thursday: a Monday has the remainder 4.
  if (choice === 'week') return from(today + ((11 - ((today / day) % 7)) % 7 || 7) * day)
  const wanted = /^\d{4}-\d\d-\d\d$/.test(date ?? '') ? from(Date.parse(`${date}T00:00:00Z`)) : undefined
  if (!wanted || !(wanted > now && wanted.getTime() < now.getTime() + longest)) {
    throw invalid({ resource: 'Thread', code: 'invalid', field: 'date', message: 'Choose a day within the next year' })
  }
  return wanted
}

const batch = 5000

/** Returns snoozed threads to the inbox when their time has come. They count as updated then, so that they are at its top. */
export async function wakeThreads(db: Database) {
  for (;;) {
    const { rowCount } = await db.query(sql`
      update threads set unread = true, done = false, snoozed_until = null, position = (select log_position()),
        updated_at = greatest(updated_at, ${db.now})
      where ctid = any(array(
        select ctid from threads where done and snoozed_until <= ${db.now} limit ${batch} for update skip locked))`)
    if ((rowCount ?? 0) < batch) return
  }
}
