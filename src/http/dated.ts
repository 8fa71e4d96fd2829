import { hash } from 'node:crypto'
import { type Queryable, sql } from '#platform/database.ts'

/**
 * Since when the answer to a request is what it is, as far as anyone has asked. What an answer follows from is spread over many tables,
 * of which some change unseen, as when somebody loses access: so its own bytes tell, and no change can be missed. All nodes go by the same
 * date, which never moves back, also when a clock does.
 */
export async function dateAnswer(db: Queryable, request: string, etag: string): Promise<Date> {
  // An address may be longer than what an index holds.
  const key = hash('sha1', request)
  const known = await db.first<{ changed_at: Date }>(
    sql`select changed_at from dated_answers where key = ${key} and etag = ${etag}`,
  )
  if (known) return known.changed_at
  const dated = await db.first<{ changed_at: Date }>(sql`
    insert into dated_answers as d (key, etag, changed_at) values (${key}, ${etag}, ${db.now})
    on conflict (key) do update set etag = excluded.etag,
      changed_at = case when excluded.changed_at >= d.changed_at then excluded.changed_at else d.changed_at + interval '1 second' end
    returning changed_at`)
  return dated?.changed_at ?? db.now
}

/** Whoever comes back after so long is given the answer again. */
const daysKept = 3

export async function forgetDates(db: Queryable) {
  await db.query(sql`delete from dated_answers where changed_at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'`)
}
