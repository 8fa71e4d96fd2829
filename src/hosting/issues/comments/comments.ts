import { associationOf, personOf } from '#hosting/issues/authors.ts'
import { checkEnabled } from '#hosting/issues/rights.ts'
import { type ReactionCounts, reactionCounts } from '#hosting/reactions/reactions.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Person } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface Comment {
  id: number
  issue_id: number
  issue_number: number
  /** Set when the issue is a pull request. */
  pull_id: number | null
  author: Person | null
  /** Who edited it last, if someone did. */
  editor: Person | null
  author_association: string
  body: string
  /** Undefined in events, which show texts as they were. */
  reactions?: ReactionCounts
  created_at: Date
  updated_at: Date
}

/** Of the comment `c` on the issue `i`; `p` is the pull request. */
export const commentColumns = sql`c.*, i.number as issue_number, p.id as pull_id, ${personOf(sql`c.author_id`)} as author, ${personOf(sql`c.editor_id`)} as editor,
  ${associationOf(sql`c.author_id`, sql`c.repo_id`)} as author_association,
  ${reactionCounts('comment_id', sql`c.id`)} as reactions`
const source = sql`comments c join issues i on i.id = c.issue_id left join pulls p on p.issue_id = i.id`

/** Comments by id, without a check of access: the caller has checked it. */
export function loadComments(db: Queryable, ids: number[]): Promise<Comment[]> {
  return db.rows(sql`select ${commentColumns} from ${source} where c.id = any(${ids})`)
}

/** Oldest first. */
export function listComments(db: Queryable, issue: { id: number }, since: string, slice: Slice): Promise<Listed<Comment>> {
  const seen = sql`${source} where c.issue_id = ${issue.id} ${changedSince(since)}`
  return listed(db, { columns: commentColumns, source: seen, order: sql`c.id` }, slice)
}

export interface CommentFilter {
  sort: 'created' | 'updated'
  direction: 'asc' | 'desc' | ''
  since: string
}

/** Comments of all issues, in the order of their ids by default. */
export function listRepositoryComments(
  db: Queryable,
  repo: Repository,
  { sort, direction, since }: CommentFilter,
  slice: Slice,
): Promise<Listed<Comment>> {
  const down = direction === 'desc' ? sql`desc` : sql`asc`
  const order = sort === 'updated' ? sql`c.updated_at ${down}, c.id ${down}` : sql`c.id ${down}`
  return listed(
    db,
    { columns: commentColumns, source: sql`${source} where c.repo_id = ${repo.id} ${changedSince(since)}`, order },
    slice,
  )
}

function changedSince(since: string): Sql {
  const moment = parseIsoDate(since)
  return moment ? sql`and c.updated_at >= ${moment}` : empty
}

export async function loadComment(db: Queryable, repo: Repository, id: number): Promise<Comment> {
  const found = await db.first<Comment>(
    sql`select ${commentColumns} from ${source} where c.repo_id = ${repo.id} and c.id = ${id}`,
  )
  if (!found?.pull_id) checkEnabled(repo)
  if (!found) throw missing()
  return found
}
