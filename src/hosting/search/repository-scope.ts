import { visible } from '#hosting/repositories/visibility.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { accountOf, type Conditions } from './conditions.ts'
import { type Qualifier, refused } from './query.ts'

/** Conditions on the repository `r` of a record. */
export function scopeConditions(viewer_id: number | null): Conditions {
  const person = accountOf(viewer_id)
  return {
    repo: (full_name) => {
      const [owner, name] = splitName(full_name)
      return sql`r.id = (select n.id from repositories n where n.owner_id = ${person(owner)} and lower(n.name) = lower(${name}))`
    },
    user: (login) => sql`r.owner_id = ${person(login)}`,
    org: (login) => sql`r.owner_id = ${person(login)}`,
  }
}

function splitName(full_name: string): [owner: string, name: string] {
  const [owner = '', name = ''] = full_name.split('/')
  return [owner, name]
}

const names = new Set(['repo', 'user', 'org'])

/** The qualifiers about repositories, and all others. */
export function separateScope(qualifiers: Qualifier[]) {
  return {
    within: qualifiers.filter(({ name }) => names.has(name)),
    others: qualifiers.filter(({ name }) => !names.has(name)),
  }
}

/** Refuses a search in scopes of which the viewer can see none: an empty result would say that nothing matches. */
export async function checkScope(db: Queryable, viewer: Viewer, qualifiers: Qualifier[]) {
  const named = separateScope(qualifiers).within.filter(({ negated }) => !negated)
  if (!named.length) return
  const table = scopeConditions(viewer.viewer_id)
  const person = accountOf(viewer.viewer_id)
  const found = named.map(({ name, value }) =>
    name === 'repo'
      ? sql`exists (select from repositories r where ${table.repo?.(value) ?? sql`false`} and ${visible(viewer)})`
      : sql`exists (select from accounts a where a.id = ${person(value)})`,
  )
  const row = await db.first<{ any: boolean }>(sql`select ${found.reduce((one, other) => sql`${one} or ${other}`)} as any`)
  if (!row?.any) throw refused('None of the named users and repositories exists, or you cannot see them.')
}
