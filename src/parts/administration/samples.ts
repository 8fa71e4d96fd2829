import { hostname } from 'node:os'
import type { Belfry } from '#belfry.ts'
import type { RequestMeter } from '#http/request-meter.ts'
import { asyncCommit, type Database, json, type Queryable, sql } from '#platform/database.ts'
import { countJobs } from '#platform/failed-jobs.ts'
import { logFailure } from '#platform/log.ts'

/** What a node measures in a minute. Counts are of that minute, the rest is the state at its end. */
export interface Sample {
  requests: number
  failed: number
  slow: number
  milliseconds: number
  memory: number
  jobs_waiting: number
  jobs_failed: number
  deliveries_waiting: number
  database_bytes: number
}

const minute = 60_000
const daysKept = 30
const mostReports = 1000
const mostCounted = 10_000

/** Takes a sample every minute until it is stopped. A sample that cannot be stored is lost; the next one has its own counts. */
export function startSampling({ db, log }: Belfry, meter: RequestMeter) {
  const node = `${hostname()} ${process.pid}`
  const take = () =>
    storeSample(db, node, meter).catch((error) => logFailure(log, error, 'the measurements of a minute could not be stored'))
  let last = take()
  const timer = setInterval(() => {
    last = take()
  }, minute).unref()
  return {
    /** Waits for a sample that is under way, because the database is closed next. */
    stop() {
      clearInterval(timer)
      return last
    },
  }
}

export async function storeSample(db: Database, node: string, meter: RequestMeter) {
  const { reports, ...counted } = meter.drain()
  const facts: Sample = { ...counted, memory: process.memoryUsage.rss(), ...(await measureState(db)) }
  await db.query(sql`
    with reported as (
      insert into request_reports (at, request_id, method, path, status, milliseconds)
      select r.* from json_to_recordset(${json(reports)}::json) as r (at timestamptz, request_id text, method text, path text, status int,
        milliseconds double precision)
    ), forgotten as (delete from site_samples where at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'),
    dropped as (delete from request_reports where id <= (select max(id) - ${mostReports} from request_reports))
    insert into site_samples (at, node, facts) select ${db.now}, ${node}, ${json(facts)}::jsonb from ${asyncCommit} on conflict do nothing`)
}

async function measureState(db: Queryable) {
  const jobs = await countJobs(db)
  const state = await db.load<{ deliveries_waiting: number; database_bytes: number }>(sql`
    select (select count(*) from (select from pending_deliveries limit ${mostCounted}) counted)::int as deliveries_waiting,
      pg_database_size(current_database())::bigint as database_bytes`)
  return { jobs_waiting: jobs.waiting, jobs_failed: jobs.failed, ...state }
}

export const spans = {
  hour: { title: 'Hour', seconds: 3600, steps: 60 },
  day: { title: '24 hours', seconds: 86_400, steps: 96 },
  month: { title: '30 days', seconds: 30 * 86_400, steps: 120 },
} as const
export type Span = keyof typeof spans

/** The samples of all nodes by step; a step without a sample is null. */
export type Series = { from: Date; seconds: number; steps: (Sample | null)[] }

export async function readSeries(db: Queryable, span: Span): Promise<Series> {
  const { seconds, steps: count } = spans[span]
  const step = seconds / count
  const from = new Date(Math.floor(db.now.getTime() / 1000 / step) * step * 1000 - (count - 1) * step * 1000)
  const rows = await db.rows<{ step: number } & Sample>(sql`
    select floor(extract(epoch from at - ${from}::timestamptz) / ${step}::float8)::int as step,
      sum((facts->>'requests')::float8) as requests, sum((facts->>'failed')::float8) as failed, sum((facts->>'slow')::float8) as slow,
      sum((facts->>'milliseconds')::float8) as milliseconds, max((facts->>'memory')::float8) as memory,
      max((facts->>'jobs_waiting')::float8) as jobs_waiting, max((facts->>'jobs_failed')::float8) as jobs_failed,
      max((facts->>'deliveries_waiting')::float8) as deliveries_waiting, max((facts->>'database_bytes')::float8) as database_bytes
    from site_samples where at >= ${from} group by 1`)
  const known = new Map(rows.map((row) => [row.step, row]))
  return { from, seconds: step, steps: Array.from({ length: count }, (_, index) => known.get(index) ?? null) }
}

export interface StoredReport {
  id: number
  at: Date
  request_id: string
  method: string
  path: string
  status: number
  milliseconds: number
}

export function listReports(db: Queryable): Promise<StoredReport[]> {
  return db.rows(sql`select * from request_reports order by id desc limit 200`)
}
