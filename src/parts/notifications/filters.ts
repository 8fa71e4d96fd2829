import { reasons } from '#activity/acts.ts'
import { type Sql, sql } from '#platform/database.ts'
import type { Filter, Thread } from './threads.ts'

/** One term of a filter: `is:unread`, `-repo:acme/site`, or a word of the title. */
interface Term {
  not: boolean
  key: 'repo' | 'reason' | 'is' | 'title'
  value: string
}

export interface Search {
  terms: Term[]
  /** Terms that are not valid. */
  unknown: string[]
}

const types: Record<string, Thread['type']> = {
  issue: 'Issue',
  pull: 'PullRequest',
  commit: 'Commit',
  release: 'Release',
  invitation: 'RepositoryInvitation',
  import: 'RepositoryImport',
  transfer: 'RepositoryTransfer',
  webhook: 'Webhook',
}
const known: Record<string, (value: string) => boolean> = {
  repo: (value) => /^[a-z\d-]{1,39}\/[\w.-]{1,100}$/.test(value),
  reason: (value) => reasons.some((reason) => reason === value),
  is: (value) => value in types || ['unread', 'read', 'done', 'saved', 'snoozed'].includes(value),
}

export const longestFilter = 500
const mostTerms = 30

/** Parses the text of the filter box. A quoted text is one word. */
export function readFilter(text: string): Search {
  const search: Search = { terms: [], unknown: [] }
  const words = text.slice(0, longestFilter).replaceAll('\0', '')
  for (const [written, minus, prefix, quoted, plain] of words.matchAll(/(-?)(?:(repo|reason|is):)?(?:"([^"]*)"|(\S+))/gi)) {
    const key = prefix?.toLowerCase()
    const said = quoted ?? plain ?? ''
    // PostgreSQL compares the words of a title, whatever their case.
    const value = key ? said.toLowerCase() : said
    if (search.terms.length === mostTerms || value === '') continue
    if (key && !known[key]?.(value)) search.unknown.push(written)
    else search.terms.push({ not: minus === '-', key: (key ?? 'title') as Term['key'], value })
  }
  return search
}

/** Several repositories, reasons or types are alternatives; words of the title must all match. */
export function conditionsOf({ terms }: Search): Sql[] {
  const parts = [true, false].map((not) => {
    const is = valuesOf(terms, 'is', not)
    const kinds = is.flatMap((value) => types[value] ?? [])
    const states = is.flatMap((value) => (value === 'unread' ? true : value === 'read' ? false : []))
    return [
      inRepositories(valuesOf(terms, 'repo', not)),
      oneOf(sql`t.reason::text`, valuesOf(terms, 'reason', not)),
      oneOf(sql`s.type`, kinds),
      unread(states),
      is.includes('saved') ? sql`t.saved` : undefined,
    ]
      .filter((part) => part !== undefined)
      .map((part) => (not ? sql`and not (${part})` : sql`and (${part})`))
  })
  return [...parts.flat(), ...inTitle(valuesOf(terms, 'title', false), valuesOf(terms, 'title', true))]
}

const valuesOf = (terms: Term[], key: Term['key'], not: boolean) =>
  terms.filter((term) => term.key === key && term.not === not).map(({ value }) => value)

/** The list that `is:done` or `is:snoozed` selects. */
export const listIn = ({ terms }: Search) =>
  (['done', 'snoozed'] as const).find((list) => valuesOf(terms, 'is', false).includes(list))

/** Adds the terms to a filter. */
export function withSearch(user: { id: number }, filter: Filter, search: Search): Filter {
  const conditions = conditionsOf(search)
  const view = listIn(search) ?? filter.view
  if (!conditions.length) return { ...filter, view }
  const besides = conditions.reduce((all, one) => sql`${all} ${one}`, among(user, view))
  return { ...filter, view, besides }
}

/** A search reads only the newest threads, because one without matches would read all of them. */
const mostSearched = 20_000

const views = {
  unread: sql`u.unread`,
  inbox: sql`not u.done`,
  done: sql`u.done and u.snoozed_until is null`,
  saved: sql`u.saved`,
  snoozed: sql`u.done and u.snoozed_until is not null`,
}

const among = (user: { id: number }, view: Filter['view']) => sql`and t.updated_at >= coalesce((
  select u.updated_at from threads u where u.user_id = ${user.id} and ${views[view]}
  order by u.updated_at desc, u.id desc offset ${mostSearched} limit 1), '-infinity')`

function oneOf(column: Sql, values: string[]): Sql | undefined {
  return values.length ? sql`${column} = any(${values}::text[])` : undefined
}

function unread(states: boolean[]): Sql | undefined {
  return states.length ? sql`t.unread = any(${states}::boolean[])` : undefined
}

function inRepositories(names: string[]): Sql | undefined {
  if (!names.length) return undefined
  const halves = names.map((name) => name.split('/'))
  return sql`t.repo_id = any(array(
    select x.id from unnest(${halves.map(([owner]) => owner)}::text[], ${halves.map(([, name]) => name)}::text[]) n (owner, name)
      join accounts o on lower(o.login) = lower(n.owner) join repositories x on x.owner_id = o.id and lower(x.name) = lower(n.name)))`
}

const title = sql`coalesce(i.title, nullif(e.name, ''), e.tag_name, s.title,
  case s.type when 'RepositoryTransfer' then 'Transfer of ' else 'Invitation to join ' end || r.name)`

function inTitle(words: string[], without: string[]): Sql[] {
  const patterns = (list: string[]) => list.map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`)
  return [
    ...(words.length ? [sql`and ${title} ilike all(${patterns(words)}::text[])`] : []),
    ...(without.length ? [sql`and not (${title} ilike any(${patterns(without)}::text[]))`] : []),
  ]
}
