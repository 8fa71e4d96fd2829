import { personOf } from '#hosting/issues/authors.ts'
import { visible } from '#hosting/repositories/visibility.ts'
import type { Person, Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { findReferences } from './mentions.ts'

/** An issue or pull request that refers to another. */
export interface CrossReference {
  id: number
  /** Null when the account was deleted. */
  actor: Person | null
  created_at: Date
  comment_id: number | null
  owner_login: string
  name: string
  number: number
  title: string
  state: 'open' | 'closed'
  state_reason: 'completed' | 'not_planned' | 'duplicate' | 'reopened' | null
  locked: boolean
  draft: boolean | null
  merged_at: Date | null
}

/** Records which issues a new text refers to, as far as its author may see them with the token of the request. A text without `#` costs nothing. */
export async function recordReferences(
  db: Transaction,
  viewer: Viewer,
  repo: { owner_login: string; name: string },
  author: { id: number },
  source: { issue_id: number; comment_id?: number },
  text: string | null,
) {
  const found = await findReferences(text ?? '')
  if (!found.length) return
  const names = found.map(({ owner, repo: name, number }) =>
    `${owner ?? repo.owner_login}/${name ?? repo.name}#${number}`.toLowerCase(),
  )
  await db.query(sql`
    insert into cross_references (issue_id, source_id, comment_id, actor_id, created_at)
    select distinct i.id, ${source.issue_id}::bigint, ${source.comment_id ?? null}::bigint, ${author.id}::bigint, ${db.now}::timestamptz
    from unnest(${names}::text[]) n (name) join accounts o on lower(o.login) = split_part(n.name, '/', 1)
      join repositories r on r.owner_id = o.id and lower(r.name) = split_part(split_part(n.name, '/', 2), '#', 1)
      join issues i on i.repo_id = r.id and i.number = split_part(n.name, '#', 2)::integer
    where i.id <> ${source.issue_id} and ${visible(viewer)}
    on conflict do nothing`)
}

/** The last `most` references to an issue that the viewer may see, from `since` until before `until`, oldest first. */
export async function listCrossReferences(
  db: Queryable,
  viewer: Viewer,
  issue: { id: number },
  { since, until }: { since: Date | null; until: Date | null },
  most: number,
): Promise<CrossReference[]> {
  const begun = since ? sql`and x.created_at >= ${since}` : empty
  const ended = until ? sql`and x.created_at < ${until}` : empty
  const rows = await db.rows<CrossReference>(sql`
    select x.id, x.created_at, x.comment_id, ${personOf(sql`x.actor_id`)} as actor, o.login as owner_login, r.name,
      i.number, i.title, i.state, i.state_reason, i.locked, p.draft, p.merged_at
    from cross_references x join issues i on i.id = x.source_id left join pulls p on p.issue_id = i.id
      join repositories r on r.id = i.repo_id join accounts o on o.id = r.owner_id
    where x.issue_id = ${issue.id} ${begun} ${ended} and (p.id is not null or r.has_issues) and ${visible(viewer)}
    order by x.id desc limit ${most}`)
  return rows.toReversed()
}
