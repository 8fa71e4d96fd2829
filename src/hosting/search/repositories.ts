import { listRepositories, type Repository } from '#hosting/repositories/repositories.ts'
import type { Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql } from '#platform/database.ts'
import type { Slice } from '#platform/listed.ts'
import { among, type Conditions, conditionsOf, inDates, inNumbers } from './conditions.ts'
import type { SearchOrder } from './issues.ts'
import { parseQuery, type Qualifier, refused } from './query.ts'
import { checkScope, scopeConditions } from './repository-scope.ts'
import type { Results } from './results.ts'
import { prefixQuery } from './words.ts'

const conditionsFor = (viewer_id: number | null): Conditions => ({
  ...scopeConditions(viewer_id),
  is: among('is', { public: sql`not r.private`, private: sql`r.private` }),
  archived: among('archived', { true: sql`r.archived`, false: sql`not r.archived` }),
  template: among('template', { true: sql`r.is_template`, false: sql`not r.is_template` }),
  fork: among('fork', { true: sql`true`, only: sql`r.parent_id is not null`, false: sql`r.parent_id is null` }),
  topic: (name) => sql`r.topics @> array[lower(${name})] and r.topics <> '{}'`,
  language: (name) => sql`lower(r.language) = lower(${name})`,
  // A family such as `gpl` has all of its versions.
  license: (key) => sql`(r.license = lower(${key}) or starts_with(r.license, lower(${key}) || '-'))`,
  topics: inNumbers('topics', sql`cardinality(r.topics)`),
  stars: inNumbers('stars', sql`r.stargazers_count`),
  forks: inNumbers('forks', sql`r.public_forks_count`),
  size: inNumbers('size', sql`r.size`),
  created: inDates('created', sql`r.created_at`),
  pushed: inDates('pushed', sql`r.pushed_at`),
})

const known = new Set([...Object.keys(conditionsFor(null)), 'in', 'sort'])
const unsupported = new Set('mirror followers good-first-issues help-wanted-issues has props'.split(' '))

const sorts: Record<string, Sql> = {
  stars: sql`r.stargazers_count`,
  forks: sql`r.public_forks_count`,
  updated: sql`r.updated_at`,
}

/** Forks are found only with `fork:true` or `fork:only`. */
export async function searchRepositories(
  db: Queryable,
  viewer: Viewer,
  q: string,
  { sort, order }: SearchOrder,
  slice: Slice,
): Promise<Results<Repository & { score: number }>> {
  const { text, terms, qualifiers } = parseQuery(q, known, unsupported)
  await checkScope(db, viewer, qualifiers)
  const query = prefixQuery(text, weightsOf(qualifiers))
  const words = query ? sql`r.id in (select d.repo_id from repository_documents d where d.document @@ ${query})` : sql`true`
  const forks = qualifiers.some(({ name }) => name === 'fork') ? empty : sql`and r.parent_id is null`
  const score = query
    ? sql`(select ts_rank(d.document, ${query}) from repository_documents d where d.repo_id = r.id)`
    : sql`1.0::real`
  const down = order === 'asc' ? sql`asc` : sql`desc`
  const key = sorts[sort]
  const first = key ? sql`${key} ${down},` : query ? sql`score desc, r.stargazers_count desc,` : sql`r.stargazers_count desc,`
  const found = await listRepositories<{ score: number }>(
    db,
    viewer,
    sql`${words} ${forks} ${conditionsOf(qualifiers, conditionsFor(viewer.viewer_id))}`,
    sql`${first} r.id`,
    slice,
    { columns: sql`, ${score} as score` },
  )
  return { ...found, terms }
}

/** The weights of `repository_document`. */
const fields: Record<string, string> = { name: 'A', topics: 'B', description: 'C' }

function weightsOf(qualifiers: Qualifier[]) {
  const named = qualifiers.filter(({ name }) => name === 'in').flatMap(({ value }) => value.toLowerCase().split(','))
  return named
    .map((field) => {
      if (!Object.hasOwn(fields, field))
        throw refused(`in:${field.slice(0, 60)} is not supported. Use ${Object.keys(fields).join(', ')}.`)
      return fields[field]
    })
    .join('')
}
