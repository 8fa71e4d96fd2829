import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Slice } from '#platform/listed.ts'
import { type FoundCommits, type FoundFiles, searchCode, searchCommits } from './contents.ts'
import { type FoundIssue, type SearchOrder, searchIssues } from './issues.ts'
import { searchRepositories } from './repositories.ts'
import type { Results } from './results.ts'
import { searchUsers } from './users.ts'

export const searchTypes = ['repositories', 'issues', 'pulls', 'users', 'commits', 'code'] as const
export type SearchType = (typeof searchTypes)[number]

export type Found =
  | { type: 'repositories'; results: Results<Repository> }
  | { type: 'issues' | 'pulls'; results: Results<FoundIssue> }
  | { type: 'users'; results: Results<Account> }
  | { type: 'commits'; results: FoundCommits }
  | { type: 'code'; results: FoundFiles }

export interface Searcher {
  db: Queryable
  storage: Storage
  viewer: Viewer & { login: string | null }
}

/** One of the searches of the API, with the same rules. */
export async function searchSite(
  { db, storage, viewer }: Searcher,
  type: SearchType,
  q: string,
  order: SearchOrder,
  slice: Slice,
): Promise<Found> {
  switch (type) {
    case 'repositories':
      return { type, results: await searchRepositories(db, viewer, q, order, slice) }
    case 'issues':
      return { type, results: await searchIssues(db, viewer, `${q} is:issue`, order, slice) }
    case 'pulls':
      return { type, results: await searchIssues(db, viewer, `${q} is:pr`, order, slice) }
    case 'users':
      return { type, results: await searchUsers(db, q, order, slice) }
    case 'commits':
      return { type, results: await searchCommits(db, storage, viewer, q, order, slice) }
    case 'code':
      return { type, results: await searchCode(db, storage, viewer, q, slice, true) }
  }
}

/** Those that the database answers. The others run git. */
const counted = ['repositories', 'issues', 'pulls', 'users'] as const

/** How many results the searches have, except one; a search that does not understand the query has no number. */
export async function countResults(
  searcher: Searcher,
  q: string,
  except?: SearchType,
): Promise<Partial<Record<SearchType, number>>> {
  const best = { sort: '', order: 'desc' } as const
  const totals = await Promise.all(
    counted
      .filter((type) => type !== except)
      .map((type) =>
        searchSite(searcher, type, q, best, { limit: 1, offset: 0 }).then(
          ({ results }): [SearchType, number | undefined] => [type, results.total],
          (error): [SearchType, number | undefined] => {
            if (error instanceof Refusal) return [type, undefined]
            throw error
          },
        ),
      ),
  )
  return Object.fromEntries(totals.filter(([, total]) => total !== undefined))
}
