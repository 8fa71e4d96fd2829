import type { Slice } from '#platform/listed.ts'

export interface Page extends Slice {
  number: number
  size: number
}

/** The default and maximum page size. `fixed`: `per_page` is ignored. */
export interface PageRule {
  size: number
  largest: number
  fixed?: true
}

export const usualPages: PageRule = { size: 30, largest: 100 }
/** More pages than any list has, and within the database's integers. */
const lastPage = 1_000_000_000

/** `page` and `per_page`: limited to the maximum; an invalid value means the default. */
export function readPage(query: URLSearchParams, rule: PageRule = usualPages): Page {
  const asked = rule.fixed ? undefined : readCount(query.get('per_page'))
  const size = Math.min(asked ?? rule.size, rule.largest)
  // PyGithub appends its parameters to the address of the last page, which has parameters already: `…&page=3?per_page=2`.
  const [wanted = null] = query.get('page')?.split('?') ?? []
  const number = Math.min(readCount(wanted) ?? 1, lastPage)
  return { number, size, limit: size, offset: (number - 1) * size }
}

function readCount(text: string | null) {
  const count = /^\d+$/.test(text ?? '') ? Number(text) : 0
  return count > 0 ? count : undefined
}

/**
 * The `Link` header of a page; undefined if there is only one page, or if it would be too long. Keeps all other parameters and puts `page` last, because
 * some clients search the address for it. A total of Infinity is unknown.
 */
export function linkHeader(address: string, query: URLSearchParams, page: Page, total: number): string | undefined {
  const last = Math.max(1, Math.ceil(total / page.size))
  const links: string[] = []
  const add = (rel: string, number: number) => {
    const parameters = new URLSearchParams(query)
    parameters.delete('page')
    parameters.append('page', String(number))
    links.push(`<${address}?${parameters}>; rel="${rel}"`)
  }
  if (page.number > 1) add('prev', Math.min(page.number - 1, last))
  if (page.number < last) {
    add('next', page.number + 1)
    if (last < Infinity) add('last', last)
  }
  if (page.number > 1) add('first', 1)
  return last > 1 || page.number > 1 ? joined(links) : undefined
}

/** In characters. Clients refuse headers of 16 KB, and four links repeat the parameters of the request. */
const longestLinks = 8192

function joined(links: string[]): string | undefined {
  const header = links.join(', ')
  return header !== '' && header.length <= longestLinks ? header : undefined
}

/** The neighbours of a page in a list paged by cursor, which has no known last page. */
export interface Cursors {
  prev: string | undefined
  next: string | undefined
  /** The query parameter that takes the cursor, `cursor` by default, or one for each direction. */
  parameter?: 'cursor' | 'since' | { prev: string; next: string }
}

/** A list in the order of ids, whose `since` is the last id that the client has seen. `rows` has one row more if there is a next page. */
export function afterId(rows: { id: number }[], { size }: Page): Cursors {
  return { prev: undefined, next: rows.length > size ? String(rows[size - 1]?.id) : undefined, parameter: 'since' }
}

export function cursorLinks(
  address: string,
  query: URLSearchParams,
  { prev, next, parameter = 'cursor' }: Cursors,
): string | undefined {
  const named = typeof parameter === 'string' ? { prev: parameter, next: parameter } : parameter
  const links = (['prev', 'next'] as const).flatMap((rel) => {
    const cursor = { prev, next }[rel]
    if (cursor === undefined) return []
    const parameters = new URLSearchParams(query)
    for (const name of ['page', named.prev, named.next]) parameters.delete(name)
    parameters.set(named[rel], cursor)
    return [`<${address}?${parameters}>; rel="${rel}"`]
  })
  return joined(links)
}
