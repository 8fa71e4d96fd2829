import { empty, type Sql, sql } from '#platform/database.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Qualifier, refused } from './query.ts'

/** The condition that each qualifier stands for. */
export type Conditions = Record<string, (value: string) => Sql>

/** Qualifiers that widen the search: a record is in one of the scopes that are named. */
const scopes = new Set(['repo', 'user', 'org'])

/** The conditions of all qualifiers, each after an `and`. */
export function conditionsOf(qualifiers: Qualifier[], table: Conditions): Sql {
  const condition = ({ name, value }: Qualifier) => table[name]?.(value) ?? sql`true`
  const within = qualifiers.filter(({ name, negated }) => scopes.has(name) && !negated).map(condition)
  const others = qualifiers
    .filter(({ name, negated }) => !scopes.has(name) || negated)
    .map((each) => (each.negated ? sql`(${condition(each)}) is not true` : sql`(${condition(each)})`))
  const all = within.length ? [sql`(${within.reduce((one, other) => sql`${one} or ${other}`)})`, ...others] : others
  return all.reduce((one, other) => sql`${one} and ${other}`, empty)
}

/** One of a few words. */
export function among(name: string, conditions: Record<string, Sql>) {
  return (value: string) => {
    const found = Object.hasOwn(conditions, value.toLowerCase()) ? conditions[value.toLowerCase()] : undefined
    if (!found) throw refused(`${name}:${value.slice(0, 60)} is not supported. Use ${Object.keys(conditions).join(', ')}.`)
    return found
  }
}

/** `10`, `>10`, `>=10`, `<10`, `<=10`, `10..20`, `*..20` and `10..*`. */
function readRange<T>(name: string, value: string, read: (text: string) => T | undefined) {
  const parse = (text: string) => {
    const found = read(text)
    if (found === undefined) throw refused(`${name}:${value.slice(0, 60)} is not a range.`)
    return found
  }
  const [, sign = '', single] = /^(>=|<=|>|<)?(.+)$/.exec(value) ?? []
  const [from, to] = value.split('..')
  if (to !== undefined && from !== undefined) {
    return { from: from === '*' ? undefined : parse(from), to: to === '*' ? undefined : parse(to), sign: '..' }
  }
  const one = parse(single ?? '')
  return { from: sign.startsWith('<') ? undefined : one, to: sign.startsWith('>') ? undefined : one, sign }
}

export const inNumbers = (name: string, column: Sql) => (value: string) => {
  const { from, to, sign } = readRange(name, value, (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined))
  const above = from === undefined ? sql`true` : sign === '>' ? sql`${column} > ${from}` : sql`${column} >= ${from}`
  const below = to === undefined ? sql`true` : sign === '<' ? sql`${column} < ${to}` : sql`${column} <= ${to}`
  return sql`${above} and ${below}`
}

const day = 86_400_000

/** A date without a time stands for the whole day. */
function readPeriod(text: string): { start: Date; end: Date } | undefined {
  const moment = parseIsoDate(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (!moment) return undefined
  return { start: moment, end: new Date(moment.getTime() + (text.includes('T') ? 1000 : day)) }
}

export const inDates = (name: string, column: Sql) => (value: string) => {
  const { from, to, sign } = readRange(name, value, readPeriod)
  const above = from === undefined ? sql`true` : sql`${column} >= ${sign === '>' ? from.end : from.start}`
  const below = to === undefined ? sql`true` : sql`${column} < ${sign === '<' ? to.start : to.end}`
  return sql`${above} and ${below}`
}

/** The id of the account with this login; `@me` is the caller. */
export const accountOf = (viewer_id: number | null) => (login: string) =>
  login.toLowerCase() === '@me' ? sql`${viewer_id}::bigint` : sql`(select id from accounts where lower(login) = lower(${login}))`
