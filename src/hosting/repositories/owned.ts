import type { Account, Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql } from '#platform/database.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { listRepositories, type Repository } from './repositories.ts'
import { visible } from './visibility.ts'

export const repositoryTypes = ['all', 'public', 'private', 'sources', 'forks', 'archived', 'templates'] as const
export const repositorySorts = ['updated', 'name', 'stars'] as const

/** How a page narrows the repositories of an account. */
export interface OwnedFilter {
  /** A part of the name or of the description. */
  find: string
  type: (typeof repositoryTypes)[number]
  /** Empty for all. */
  language: string
  sort: (typeof repositorySorts)[number]
}

const ofType: Record<OwnedFilter['type'], Sql> = {
  all: sql`true`,
  public: sql`not r.private`,
  private: sql`r.private`,
  sources: sql`r.parent_id is null`,
  forks: sql`r.parent_id is not null`,
  archived: sql`r.archived`,
  templates: sql`r.is_template`,
}

const orders: Record<OwnedFilter['sort'], Sql> = {
  updated: sql`r.pushed_at desc nulls last, r.id desc`,
  name: sql`lower(r.name), r.id`,
  stars: sql`r.stargazers_count desc, r.pushed_at desc nulls last, r.id desc`,
}

export function listOwned(
  db: Queryable,
  viewer: Viewer,
  owner: Account,
  { find, type, language, sort }: OwnedFilter,
  slice: Slice,
): Promise<Listed<Repository>> {
  const words = find ? sql`and position(lower(${find}) in lower(r.name || ' ' || coalesce(r.description, ''))) > 0` : empty
  const written = language ? sql`and lower(r.language) = lower(${language})` : empty
  const condition = sql`r.owner_id = ${owner.id} and ${ofType[type]} ${words} ${written}`
  return listRepositories(db, viewer, condition, orders[sort], slice)
}

/** The languages of an account's repositories, the most frequent first. */
export async function listOwnedLanguages(db: Queryable, viewer: Viewer, owner: Account): Promise<string[]> {
  const rows = await db.rows<{ language: string }>(sql`
    select r.language from repositories r where r.owner_id = ${owner.id} and r.language is not null and ${visible(viewer)}
    group by r.language order by count(*) desc, r.language limit 40`)
  return rows.map(({ language }) => language)
}
