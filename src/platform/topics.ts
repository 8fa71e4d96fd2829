import { type Database, type Queryable, type Row, type Sql, sql } from './database.ts'

/** What a response depends on, see migrations/0029_topics.sql and 0046_conversation_topics.sql. */
export type Topic = `${'r' | 'c' | 'u' | 'i' | 's' | 'a' | 'k' | 'o' | 'n'}${number}` | 'w'

/** A state of the database, as PostgreSQL writes it. */
export type Snapshot = string

interface Read {
  statement: Sql
  answer: PromiseWithResolvers<Row[]>
}

interface Check {
  topics: readonly Topic[]
  snapshot: Snapshot | undefined
  answer: PromiseWithResolvers<{ changed: boolean; snapshot: Snapshot }>
}

const opened = new WeakMap<Database, TopicChecks>()

/** All checks of a database, so that they can share statements. */
export function checksOf(db: Database) {
  const checks = opened.get(db) ?? new TopicChecks(db)
  opened.set(db, checks)
  return checks
}

/** Enough for hundreds of polls; more wait for the next statement. */
const mostPairs = 5000

/**
 * Finds out whether topics changed since a snapshot. Checks that arrive while a statement runs are sent together by the next one, so that
 * many polls cost little more than one.
 */
class TopicChecks {
  readonly #db: Database
  #waiting: Check[] = []
  #reads: Read[] = []
  #running = false

  constructor(db: Database) {
    this.#db = db
  }

  /** Also returns the snapshot that it was found in. Without a snapshot to compare with, everything has changed. */
  check(topics: readonly Topic[], snapshot?: Snapshot) {
    const answer: Check['answer'] = Promise.withResolvers()
    this.#waiting.push({ topics, snapshot, answer })
    this.#start()
    return answer.promise
  }

  /** Runs a small statement in the round trip of the checks that are made now. See Database.genericPlanRows. */
  alongside = <R extends Row>(statement: Sql): Promise<R[]> => {
    const answer: Read['answer'] = Promise.withResolvers()
    this.#reads.push({ statement, answer })
    this.#start()
    return answer.promise as Promise<R[]>
  }

  #start() {
    if (this.#running) return
    this.#running = true
    // Requests that arrived in the same turn of the event loop share a statement.
    setImmediate(() => this.#run())
  }

  async #run() {
    while (this.#waiting.length || this.#reads.length) await this.#send(this.#take(), this.#reads.splice(0))
    this.#running = false
  }

  async #send(checks: Check[], reads: Read[]) {
    try {
      const statements = [...(checks.length ? [statementOf(checks)] : []), ...reads.map(({ statement }) => statement)]
      const outcomes = await this.#db.genericPlanEach(statements)
      if (checks.length) settle(checks, outcomes.shift())
      for (const [index, { answer }] of reads.entries()) {
        const outcome = outcomes[index]
        if (outcome?.status === 'fulfilled') answer.resolve(outcome.value)
        else answer.reject(outcome?.reason)
      }
    } catch (error) {
      for (const { answer } of [...checks, ...reads]) answer.reject(error)
    }
  }

  #take() {
    let pairs = 0
    const end = this.#waiting.findIndex(({ topics }) => {
      pairs += topics.length
      return pairs > mostPairs
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(end, 1))
  }
}

function statementOf(checks: Check[]) {
  const pairs = checks.flatMap(({ topics, snapshot }, index) =>
    snapshot === undefined ? [] : topics.map((topic) => ({ index, topic, snapshot })),
  )
  return sql`
    select pg_current_snapshot()::text as snapshot, array(
      select distinct p.index from unnest(${pairs.map(({ index }) => index)}::int[], ${pairs.map(({ topic }) => topic)}::text[],
        ${pairs.map(({ snapshot }) => snapshot)}::pg_snapshot[]) p (index, topic, snapshot)
      cross join lateral (select from topic_changes c where c.topic = p.topic and c.xid >= pg_snapshot_xmin(p.snapshot)
        and not pg_visible_in_snapshot(c.xid, p.snapshot) limit 1) c) as changed`
}

function settle(checks: Check[], outcome: PromiseSettledResult<Row[]> | undefined) {
  const [found] = outcome?.status === 'fulfilled' ? (outcome.value as { changed: number[]; snapshot: Snapshot }[]) : []
  const changed = new Set(found?.changed)
  for (const [index, { answer, snapshot: former }] of checks.entries()) {
    if (found) answer.resolve({ changed: former === undefined || changed.has(index), snapshot: found.snapshot })
    else answer.reject(outcome?.status === 'rejected' ? outcome.reason : new Error('The database returned no snapshot.'))
  }
}

/**
 * In milliseconds. A response is made anew after this time, because events and invitations also leave a list by their age, which no topic
 * reports. A page that shows such a record near its end has no topics; the time is for the count of pages.
 */
export const responseAge = 60 * 60_000

/** In milliseconds. Changes are deleted after twice this time, so a snapshot that was checked longer ago proves nothing. */
export const snapshotAge = 10 * 60_000

export async function deleteOldChanges(db: Queryable) {
  await db.query(
    sql`delete from topic_changes where created_at < clock_timestamp() - ${2 * snapshotAge} * interval '1 millisecond'`,
  )
}
