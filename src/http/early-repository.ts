import type { Caller } from '#identity/callers.ts'
import type { Database } from '#platform/database.ts'
import { checksOf } from '#platform/topics.ts'
import type { Endpoint, PathRepository } from './endpoint.ts'
import { loadPathRepository, type PathLoaders } from './route-params.ts'

/** The repository of a path, loaded before it is certain who asks. */
export interface EarlyRepository {
  caller: Caller
  begun_at: number
  repo: Promise<PathRepository>
}

/** In milliseconds. A body may arrive much later than the headers; the repository is then loaded again. */
const longest = 100

/** Loads the repository for the caller that the token last belonged to, in the round trip that finds out whether it still does. */
export function loadEarly(
  loaders: PathLoaders,
  db: Database,
  endpoint: Endpoint,
  caller: Caller,
  params: Record<string, string>,
): EarlyRepository | undefined {
  const { owner, repo: name } = params
  if (owner === undefined || name === undefined || `${owner}${name}`.includes('\0')) return undefined
  const checks = checksOf(db)
  const reader = { genericPlanRows: checks.alongside, first: db.first.bind(db) }
  const repo = loadPathRepository(loaders, reader, endpoint, caller, owner, name)
  // The request that needs it gets the error too.
  repo.catch(() => {})
  return { caller, begun_at: performance.now(), repo }
}

/** Nothing if the request turned out to be another caller's. */
export function takeEarly(call: { early: EarlyRepository | undefined; caller: Caller }): Promise<PathRepository> | undefined {
  const { early, caller } = call
  call.early = undefined
  return early?.caller === caller && performance.now() - early.begun_at < longest ? early.repo : undefined
}
