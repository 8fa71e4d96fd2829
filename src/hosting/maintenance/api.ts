import { discardJob, retryJob } from '#hosting/administration/failed-jobs.ts'
import { del, get, group, listOf, paged, post } from '#http/endpoint.ts'
import { Nothing, NullableString, Timestamp, timestamp } from '#http/serialization.ts'
import { listFailedJobs } from '#platform/failed-jobs.ts'
import { Type } from '#platform/schema.ts'
import { listRepairs } from './maintenance.ts'

const administration = { permission: 'classic', scopes: ['site_admin'], viewer: 'site_admin' } as const

const FailedJob = Type.Object({
  id: Type.Integer(),
  task: Type.String(),
  attempts: Type.Integer(),
  last_error: NullableString,
  created_at: Timestamp,
  failed_at: Timestamp,
})

const RefRepair = Type.Object({
  id: Type.Integer(),
  repository: Type.Object({ id: Type.Integer(), full_name: Type.String() }),
  ref: Type.String(),
  recorded_sha: NullableString,
  disk_sha: NullableString,
  outcome: Type.String({ enum: ['restored', 'adopted', 'lost'] }),
  found_at: Timestamp,
})

export const api = group('Maintenance', [
  get(
    '/admin/jobs/failed',
    {
      ...administration,
      operation: 'belfry-admin/list-failed-jobs',
      summary: 'Background jobs that used up their attempts, the latest first',
      ...listOf(FailedJob),
    },
    async ({ db, page }) =>
      paged(await listFailedJobs(db, page), ({ created_at, failed_at, ...job }) => ({
        ...job,
        created_at: timestamp(created_at),
        failed_at: timestamp(failed_at),
      })),
  ),
  post(
    '/admin/jobs/{job_id}/retry',
    {
      ...administration,
      operation: 'belfry-admin/retry-failed-job',
      summary: 'Run a failed job again, with all its attempts',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => retryJob(db, viewer, params.job_id),
  ),
  del(
    '/admin/jobs/{job_id}',
    {
      ...administration,
      operation: 'belfry-admin/discard-failed-job',
      summary: 'Discard a failed job',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => discardJob(db, viewer, params.job_id),
  ),
  get(
    '/admin/ref-repairs',
    {
      ...administration,
      operation: 'belfry-admin/list-ref-repairs',
      summary: 'Differences between disk and database that were found and settled, the latest first',
      ...listOf(RefRepair),
    },
    async ({ db, page }) =>
      paged(await listRepairs(db, page), ({ repo_id, full_name, found_at, ...repair }) => ({
        ...repair,
        repository: { id: repo_id, full_name },
        found_at: timestamp(found_at),
      })),
  ),
])
