import { associationOf, personOf } from '#hosting/issues/authors.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Person } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export type ReviewState = 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED'

export interface Review {
  id: number
  repo_id: number
  pull_id: number
  pull_number: number
  author: Person | null
  /** Who edited it last, if someone did. */
  editor: Person | null
  author_association: string
  state: ReviewState
  body: string
  commit_id: string
  /** Why it was dismissed. */
  dismissal: string | null
  created_at: Date
  updated_at: Date
  submitted_at: Date | null
}

const columns = sql`v.*, i.number as pull_number, ${personOf(sql`v.author_id`)} as author, ${personOf(sql`v.editor_id`)} as editor,
  ${associationOf(sql`v.author_id`, sql`v.repo_id`)} as author_association`
const source = sql`reviews v join pulls p on p.id = v.pull_id join issues i on i.id = p.issue_id`

/** Only its author sees a pending review. */
const seenBy = (viewer: { id: number } | null) => sql`(v.state <> 'PENDING' or v.author_id = ${viewer?.id ?? null})`

/** Reviews by id, without a check of access: the caller has checked it. */
export function loadReviews(db: Queryable, ids: number[]): Promise<Review[]> {
  return db.rows(sql`select ${columns} from ${source} where v.id = any(${ids}) and ${seenBy(null)}`)
}

/** Oldest first. */
export function listReviews(db: Queryable, pull: Pull, viewer: { id: number } | null, slice: Slice): Promise<Listed<Review>> {
  const seen = sql`${source} where v.pull_id = ${pull.id} and ${seenBy(viewer)}`
  return listed(db, { columns, source: seen, order: sql`v.id` }, slice)
}

export async function loadReview(db: Queryable, pull: { id: number }, viewer: { id: number } | null, id: number) {
  return db.load<Review>(
    sql`select ${columns} from ${source} where v.pull_id = ${pull.id} and v.id = ${id} and ${seenBy(viewer)}`,
  )
}

export async function putReview(
  db: Transaction,
  pull: Pull,
  author: { id: number },
  { state, body, commit_id }: Pick<Review, 'state' | 'body' | 'commit_id'>,
) {
  const submitted_at = state === 'PENDING' ? null : db.now
  return db.load<{ id: number; repo_id: number; pull_id: number; author_id: number }>(sql`
    insert into reviews (repo_id, pull_id, author_id, state, body, commit_id, created_at, updated_at, submitted_at)
    values (${pull.repo_id}, ${pull.id}, ${author.id}, ${state}, ${body}, ${commit_id}, ${db.now}, ${db.now}, ${submitted_at})
    returning id, repo_id, pull_id, author_id`)
}
