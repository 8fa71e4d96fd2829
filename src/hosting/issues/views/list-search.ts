import { type Issue, listIssues, type RepositoryIssueFilter } from '#hosting/issues/issues.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { searchIssues } from '#hosting/search/issues.ts'
import { mostResults } from '#hosting/search/results.ts'
import type { Slice } from '#platform/listed.ts'
import type { Visit } from '#web/page.ts'
import { withinRepository } from './list-query.ts'

export interface FoundPage {
  rows: Issue[]
  total: number
  /** How many of them can be listed. */
  listed: number
}

const anything = { labels: '', since: '', sort: 'created', direction: 'desc', creator: '', assignee: '', milestone: '' } as const

/** The issues and pull requests of a repository that match a query. */
export async function findIssues(visit: Visit, repo: Repository, q: string, slice: Slice): Promise<FoundPage> {
  const plain = plainFilter(q)
  if (plain) {
    const { rows, total } = await listIssues(visit.db, repo, { ...anything, ...plain }, slice)
    return { rows, total, listed: total }
  }
  const viewer = { ...viewerOf(visit), login: visit.visitor?.login ?? null }
  const limit = Math.max(Math.min(slice.limit, mostResults - slice.offset), 0)
  const wanted = { sort: '', order: 'desc' } as const
  const { rows, total } = await searchIssues(visit.db, viewer, withinRepository(q, repo), wanted, { ...slice, limit })
  const issues = rows.flatMap(({ issue }) => (issue.repo_id === repo.id ? issue : []))
  return { rows: issues, total, listed: Math.min(total, mostResults) }
}

const sorts = { created: 'created', updated: 'updated', comments: 'comments' } as const

/** Lists without words and people have an index and no limit; everything else is a search. Undefined for a search. */
function plainFilter(q: string): Pick<RepositoryIssueFilter, 'state' | 'only'> | undefined {
  const filter: Partial<RepositoryIssueFilter> = {}
  for (const part of q.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, sort, direction] = /^sort:(created|updated|comments)(?:-(asc|desc))?$/.exec(part) ?? []
    if (part === 'is:issue') filter.only = 'issues'
    else if (part === 'is:pr') filter.only = 'pulls'
    else if (part === 'is:open' || part === 'is:closed') filter.state = part === 'is:open' ? 'open' : 'closed'
    else if (sort !== undefined) {
      filter.sort = sorts[sort as keyof typeof sorts]
      filter.direction = direction === 'asc' ? 'asc' : 'desc'
    } else return undefined
  }
  return { state: 'all', ...filter }
}
