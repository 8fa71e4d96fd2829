import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { loadPulls, type Pull } from './pulls.ts'

export interface PullFilter {
  state: 'open' | 'closed' | 'all'
  /** `owner:branch`; other text does not filter. */
  head: string
  base: string
  sort: 'created' | 'updated' | 'popularity' | 'long-running'
  direction: 'asc' | 'desc' | ''
}

/** Literal in the statement, because a parameter would not use the partial index of open issues. */
const states = { open: sql`and i.state = 'open'`, closed: sql`and i.state = 'closed'`, all: empty }

const orders = {
  created: empty,
  updated: sql`i.updated_at`,
  popularity: sql`i.comments_count`,
  'long-running': empty,
}

/** Newest first by default; the other orders are ascending by default. */
export async function listPulls(
  db: Queryable,
  viewer: Viewer,
  repo: Repository,
  filter: PullFilter,
  slice: Slice,
): Promise<Listed<Pull>> {
  const { state, base, sort, direction } = filter
  const down = (direction || (sort === 'created' ? 'desc' : 'asc')) === 'desc' ? sql`desc` : sql`asc`
  const first = orders[sort] === empty ? empty : sql`${orders[sort]} ${down},`
  const source = sql`issues i join pulls p on p.issue_id = i.id where i.repo_id = ${repo.id} ${states[state]} ${comingFrom(filter)}
    ${base === '' ? empty : sql`and p.base_ref = ${base}`}`
  const { rows, total } = await listed<{ id: number }>(
    db,
    { columns: sql`p.id`, source, order: sql`${first} i.number ${down}` },
    slice,
  )
  const ids = rows.map(({ id }) => id)
  const found = new Map((await loadPulls(db, ids, viewer)).map((pull) => [pull.id, pull]))
  return { rows: ids.flatMap((id) => found.get(id) ?? []), total }
}

function comingFrom({ head }: PullFilter): Sql {
  const [, owner, branch] = /^([^:]+):(.+)$/s.exec(head) ?? []
  if (owner === undefined) return empty
  return sql`and p.head_owner_id = (select id from accounts where lower(login) = lower(${owner})) and p.head_ref = ${branch}`
}
