import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { among, type Conditions, conditionsOf, inDates, inNumbers } from './conditions.ts'
import type { SearchOrder } from './issues.ts'
import { parseQuery, type Qualifier, refused } from './query.ts'
import type { Results } from './results.ts'
import { prefixQuery } from './words.ts'

const repositories = sql`(select count(*) from repositories r where r.owner_id = a.id and not r.private)`
const followers = sql`(select count(*) from follows f where f.followed_id = a.id)`
const contains = (column: Sql, text: string) => sql`position(lower(${text}) in lower(coalesce(${column}, ''))) > 0`
const isLogin = (login: string) => sql`lower(a.login) = lower(${login})`

const conditions: Conditions = {
  type: among('type', {
    user: sql`a.type = 'User'`,
    org: sql`a.type = 'Organization'`,
    organization: sql`a.type = 'Organization'`,
  }),
  user: isLogin,
  org: (login) => sql`${isLogin(login)} and a.type = 'Organization'`,
  repos: inNumbers('repos', repositories),
  followers: inNumbers('followers', followers),
  created: inDates('created', sql`a.created_at`),
  location: (text) => contains(sql`a.location`, text),
  fullname: (text) => contains(sql`a.name`, text),
}

const known = new Set([...Object.keys(conditions), 'in', 'sort'])
const unsupported = new Set(['language', 'is'])
const sorts: Record<string, Sql> = { followers, repositories, joined: sql`a.created_at` }

/** Users and organizations. */
export async function searchUsers(
  db: Queryable,
  q: string,
  { sort, order }: SearchOrder,
  slice: Slice,
): Promise<Results<Account>> {
  const { text, terms, qualifiers } = parseQuery(q, known, unsupported)
  const { weights, in_email } = fieldsOf(qualifiers)
  const query = prefixQuery(text, weights)
  const named = query ? sql`account_document(a.login, a.name) @@ ${query}` : sql`true`
  // Only the address that everyone sees.
  const shown = sql`a.email_public and lower(a.email) = lower(${terms.join(' ')})`
  const words = in_email ? (weights ? sql`(${named} or ${shown})` : shown) : named
  const down = order === 'asc' ? sql`asc` : sql`desc`
  const key = sorts[sort]
  // The login itself is the best match.
  const first = key ? sql`${key} ${down},` : sql`lower(a.login) = lower(${terms.join(' ')}) desc,`
  const found: Listed<Account> = await listed(
    db,
    {
      columns: accountColumns,
      source: sql`accounts a where a.type <> 'Bot' and ${words} ${conditionsOf(qualifiers, conditions)}`,
      order: sql`${first} lower(a.login)`,
    },
    slice,
  )
  return { ...found, terms }
}

/** The weights of `account_document`. */
const fields: Record<string, string> = { login: 'A', name: 'B', email: '' }

function fieldsOf(qualifiers: Qualifier[]) {
  const named = qualifiers.filter(({ name }) => name === 'in').flatMap(({ value }) => value.toLowerCase().split(','))
  const wrong = named.find((field) => !Object.hasOwn(fields, field))
  if (wrong !== undefined) throw refused(`in:${wrong.slice(0, 60)} is not supported. Use ${Object.keys(fields).join(', ')}.`)
  return { weights: named.map((field) => fields[field]).join(''), in_email: named.includes('email') }
}
