import { type Label, labelColumns } from '#hosting/labels/labels.ts'
import { visible } from '#hosting/repositories/visibility.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { conditionsOf, inDates, inNumbers } from './conditions.ts'
import type { SearchOrder } from './issues.ts'
import { parseQuery } from './query.ts'
import type { Results } from './results.ts'

/** Labels of a repository whose name or description contains all words. A label has no dates, so the order is that of ids. */
export async function searchLabels(
  db: Queryable,
  repo: { id: number },
  q: string,
  { sort, order }: SearchOrder,
  slice: Slice,
): Promise<Results<Label>> {
  const { terms } = parseQuery(q, new Set())
  const texts = sql`lower(l.name || ' ' || coalesce(l.description, ''))`
  const source = sql`labels l where l.repo_id = ${repo.id}
    and not exists (select from unnest(${terms}::text[]) term where position(lower(term) in ${texts}) = 0)`
  const down = order === 'asc' ? sql`asc` : sql`desc`
  const by = sort === 'created' || sort === 'updated' ? sql`l.id ${down}` : sql`lower(l.name)`
  const found: Listed<Label> = await listed(db, { columns: labelColumns, source, order: by }, slice)
  return { ...found, terms }
}

export interface Topic {
  name: string
  repository_count: number
  /** When the oldest and the newest of its repositories were created. */
  created_at: Date
  updated_at: Date
}

const topicConditions = {
  repositories: inNumbers('repositories', sql`repository_count`),
  created: inDates('created', sql`created_at`),
}

/** Topics of the repositories that the viewer may see, the most frequent first. */
export async function searchTopics(db: Queryable, viewer: Viewer, q: string, slice: Slice): Promise<Results<Topic>> {
  const { terms, qualifiers } = parseQuery(q, new Set(Object.keys(topicConditions)), new Set(['is']))
  const source = sql`(
      select t.name, count(*)::integer as repository_count, min(r.created_at) as created_at, max(r.updated_at) as updated_at
      from repositories r cross join lateral unnest(r.topics) t (name)
      where r.topics <> '{}' and ${visible(viewer)}
        and not exists (select from unnest(${terms}::text[]) term where position(lower(term) in t.name) = 0)
      group by t.name) found where true ${conditionsOf(qualifiers, topicConditions)}`
  const found: Listed<Topic> = await listed(db, { columns: sql`*`, source, order: sql`repository_count desc, name` }, slice)
  return { ...found, terms }
}
