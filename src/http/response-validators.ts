import { hash } from 'node:crypto'
import { type Queryable, sql } from '#platform/database.ts'
import type { Version } from './conditional.ts'

/** Seconds before the first request for a response. No client can have one of these as the date of another version. */
const unusedSeconds = 10

/**
 * When the response to a request was first seen in its present version. A response depends on many tables, and some changes leave no
 * timestamp, as when a user loses access. So we compare its bytes, and miss no change. All nodes use the same dates, which
 * never move back, even if a clock does.
 *
 * A date is sent for one version only. That is the second in which the version was found, unless the version before it has that date:
 * then it is the next second, see lastModifiedOf. The first versions, in the first ten seconds, have dates from before the first
 * request, so that a client which changes something and requests it again within one second gets exact dates too.
 */
export async function dateAnswer(db: Queryable, request: string, etag: string): Promise<Version> {
  // An address may be longer than an index entry.
  const key = hash('sha1', request)
  const known = await db.first<Omit<Version, 'found'>>(
    sql`select changed_at, last_modified from response_validators where key = ${key} and etag = ${etag}`,
  )
  if (known) return { ...known, found: false }
  const changed_at = sql`greatest(excluded.changed_at, d.changed_at)`
  const second = sql`date_trunc('second', ${changed_at})`
  const dated = await db.first<Omit<Version, 'found'>>(sql`
    insert into response_validators as d (key, etag, changed_at, last_modified, first_at)
    values (${key}, ${etag}, ${db.now}, date_trunc('second', ${db.now}::timestamptz) - ${unusedSeconds} * interval '1 second', ${db.now})
    on conflict (key) do update set etag = excluded.etag,
      changed_at = case when d.etag = excluded.etag then d.changed_at else ${changed_at} end,
      last_modified = case
        when d.etag = excluded.etag then d.last_modified
        when ${changed_at} < d.first_at + ${unusedSeconds} * interval '1 second'
          and d.last_modified + interval '1 second' < date_trunc('second', d.first_at) then d.last_modified + interval '1 second'
        when d.last_modified < ${second} then ${second}
        else ${second} + interval '1 second' end
    returning changed_at, last_modified`)
  return { ...(dated ?? { changed_at: db.now, last_modified: db.now }), found: true }
}

/** A client with an older date gets the full response again. */
const daysKept = 3

export async function forgetDates(db: Queryable) {
  await db.query(sql`delete from response_validators where changed_at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'`)
}
