import { join } from 'node:path'
import { pageIn, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { Refusal } from '#platform/errors.ts'
import { typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import type { SearchOrder } from './issues.ts'
import { mostResults } from './results.ts'
import { countResults, type Found, type Searcher, type SearchType, searchSite, searchTypes } from './site-search.ts'
import { perPage, type SearchLook, searchBody, sorts } from './views/search-page.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [show('/search', searchPage)]

const longestQuery = 256

async function searchPage(visit: Visit): Promise<Outcome> {
  const { query, db, belfry, visitor } = visit
  const q = typed(query, 'q').slice(0, longestQuery)
  const asked = searchTypes.find((type) => type === query.get('type'))
  if (!q)
    return { title: 'Search', body: await searchBody(visit, { look: lookOf(query, q, asked ?? 'repositories'), counts: {} }) }
  const searcher = { db, storage: belfry.storage, viewer: { ...viewerOf(visit), login: visitor?.login ?? null } }
  const known = asked === undefined ? await countResults(searcher, q) : undefined
  const look = lookOf(query, q, asked ?? typeOf(known ?? {}))
  const [{ found, problem }, counts] = await Promise.all([search(searcher, look), known ?? countResults(searcher, q, look.type)])
  return {
    title: `${q} · Search`,
    body: await searchBody(visit, { look, counts, found, problem }),
    ...(problem !== undefined && { status: 422 }),
  }
}

/** Without a type, the first that has results. */
const typeOf = (counts: Partial<Record<SearchType, number>>) => searchTypes.find((type) => counts[type]) ?? 'repositories'

function lookOf(query: URLSearchParams, q: string, type: SearchType): SearchLook {
  const sort = query.get('sort') ?? ''
  return { q, type, sort: Object.hasOwn(sorts[type], sort) ? sort : '', page: Math.min(pageIn(query), mostResults / perPage) }
}

/** A query that the search does not understand is no error of the page: it says what is wrong with it. */
async function search(searcher: Searcher, { q, type, sort, page }: SearchLook): Promise<{ found?: Found; problem?: string }> {
  const [name = '', direction] = sort.split('-')
  const order: SearchOrder = { sort: name, order: direction === 'asc' ? 'asc' : 'desc' }
  try {
    return { found: await searchSite(searcher, type, q, order, { limit: perPage, offset: (page - 1) * perPage }) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'invalid') throw error
    return { problem: error.faults?.map(({ message }) => message).join(' ') || error.message }
  }
}
