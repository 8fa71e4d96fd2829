import { statfs } from 'node:fs/promises'
import type { Belfry } from '#belfry.ts'
import { countRepairs } from '#hosting/maintenance/maintenance.ts'
import type { Measurement } from '#http/health.ts'
import { countImports } from '#parts/imports/all-imports.ts'
import { countHooks, countWaiting, secondsWaited } from '#parts/webhooks/all-hooks.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { countJobs } from '#platform/failed-jobs.ts'

/** What `/metrics` measures when it is asked. All but git processes and the disk are the same on every node. */
export const measurements = ({ db, storage, settings }: Belfry): Measurement[] => [
  {
    name: 'belfry_jobs',
    help: 'Background jobs by state; failed ones used up their attempts and wait for an operator.',
    label: 'state',
    measure: () => countJobs(db),
  },
  {
    name: 'belfry_ref_repairs',
    help: 'Differences between disk and database found and settled in the last 90 days, by outcome.',
    label: 'outcome',
    measure: () => countRepairs(db),
  },
  {
    name: 'belfry_webhooks',
    help: 'Webhooks by state; a failing one is active, and its last delivery was not taken.',
    label: 'state',
    measure: () => countHooks(db),
  },
  {
    name: 'belfry_webhook_deliveries_waiting',
    help: 'Webhook deliveries that wait, by why: due ones wait for a sender, postponed ones for their receiver. At most 10,000 are counted.',
    label: 'state',
    measure: () => countWaiting(db),
  },
  {
    name: 'belfry_webhook_deliveries_oldest_seconds',
    help: 'For how long the oldest delivery in each state has waited; 0 if there is none.',
    label: 'state',
    measure: () => secondsWaited(db),
  },
  {
    name: 'belfry_imports',
    help: 'Source imports by status.',
    label: 'status',
    measure: () => countImports(db),
  },
  {
    name: 'belfry_git_processes',
    help: 'Requests of this node that run git: fetches and pushes, or pages and API requests that read.',
    label: 'kind',
    measure: async () => ({ transfer: storage.fetching.taken, read: storage.reading.taken }),
  },
  {
    name: 'belfry_storage_bytes',
    help: 'Bytes of the database, of repositories as of their last push, and of files of Git LFS and releases.',
    label: 'kind',
    measure: onceAMinute(() => measureStorage(db)),
  },
  {
    name: 'belfry_disk_bytes',
    help: 'The file system of BELFRY_DATA: its size, and what is free.',
    label: 'state',
    measure: async () => {
      const { bsize, blocks, bavail } = await statfs(settings.BELFRY_DATA)
      return { size: blocks * bsize, free: bavail * bsize }
    },
  },
]

/** These sums read whole tables. */
async function measureStorage(db: Queryable) {
  return db.load<{ database: number; repositories: number; files: number }>(sql`
    select pg_database_size(current_database())::float8 as database,
      (select coalesce(sum(size), 0)::float8 * 1024 from repositories) as repositories,
      (select coalesce(sum(size), 0)::float8 from lfs_objects) + (select coalesce(sum(size), 0)::float8 from release_assets) as files`)
}

function onceAMinute(measure: Measurement['measure']): Measurement['measure'] {
  let measured: { at: number; values: ReturnType<Measurement['measure']> } | undefined
  return () => {
    if (measured && performance.now() - measured.at < 60_000) return measured.values
    const values = measure()
    measured = { at: performance.now(), values }
    values.catch(() => {
      measured = undefined
    })
    return values
  }
}
