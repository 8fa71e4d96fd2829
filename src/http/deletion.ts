import type { FastifyRequest } from 'fastify'
import { isDeleted, type Loaded } from '#identity/deletion.ts'
import type { Database } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { failureOf } from './errors.ts'

const loaded = new WeakMap<FastifyRequest, Loaded>()

/** Remembers which records a request is about, in case that it fails. */
export function noteRecords(
  request: FastifyRequest,
  records: { repo?: { id: number } | undefined; accounts?: ({ id: number } | null | undefined)[] },
) {
  const { repo, accounts = [] } = records
  loaded.set(request, {
    repo_ids: repo ? [repo.id] : [],
    account_ids: accounts.flatMap((account) => account?.id ?? []),
  })
}

/**
 * The error that a client gets. When a record is deleted during a request, the request may fail in any way: a row or a folder is missing.
 * The client gets Not Found, as it would have a moment later.
 */
export async function explainDeletion(db: Database, request: FastifyRequest, error: unknown): Promise<unknown> {
  const records = loaded.get(request)
  const { unexpected, kind } = failureOf(error, request.body)
  if (!records || error instanceof DatabaseUnavailable || !(unexpected || kind === 'outage')) return error
  if (!(await isDeleted(db, records).catch(() => false))) return error
  request.log.info({ reason: (error as Error).message }, 'a record was deleted during the request')
  return missing()
}
