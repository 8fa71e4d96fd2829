import { associationOf, personOf } from '#hosting/issues/authors.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import { type ReactionCounts, reactionCounts } from '#hosting/reactions/reactions.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { DiffPosition } from '#hosting/reviews/diff-position.ts'
import type { Person } from '#identity/accounts.ts'
import { empty, json, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface ReviewComment extends DiffPosition {
  id: number
  pull_id: number
  pull_number: number
  review_id: number | null
  review_state: string | null
  in_reply_to_id: number | null
  author: Person | null
  /** Who edited it last, if someone did. */
  editor: Person | null
  author_association: string
  body: string
  commit_id: string
  original_commit_id: string
  /** Undefined in events, which show texts as they were. */
  reactions?: ReactionCounts
  created_at: Date
  updated_at: Date
}

const columns = sql`c.*, i.number as pull_number, v.state as review_state, ${personOf(sql`c.author_id`)} as author, ${personOf(sql`c.editor_id`)} as editor,
  ${associationOf(sql`c.author_id`, sql`c.repo_id`)} as author_association,
  ${reactionCounts('review_comment_id', sql`c.id`)} as reactions`
const source = sql`review_comments c join pulls p on p.id = c.pull_id join issues i on i.id = p.issue_id
  left join reviews v on v.id = c.review_id`

/** Only its author sees the comments of a pending review. */
const seenBy = (viewer: { id: number } | null) => sql`(v.state is distinct from 'PENDING' or v.author_id = ${viewer?.id ?? null})`

/** Comments by id, without a check of access: the caller has checked it. */
export function loadReviewComments(db: Queryable, ids: number[]): Promise<ReviewComment[]> {
  return db.rows(sql`select ${columns} from ${source} where c.id = any(${ids}) and ${seenBy(null)}`)
}

/** A conversation about lines: a comment and its answers, oldest first. */
export interface ReviewThread {
  /** That of its first comment. */
  id: number
  comments: ReviewComment[]
}

/** A payload lists so many comments of a thread. */
const mostOfThread = 100

/** Threads by id, without a check of access: the caller has checked it. */
export async function loadReviewThreads(db: Queryable, ids: number[]): Promise<ReviewThread[]> {
  const comments = await db.rows<ReviewComment>(sql`
    select ${columns} from unnest(${ids}::bigint[]) t (id),
      lateral (select id from review_comments where id = t.id or in_reply_to_id = t.id order by id limit ${mostOfThread}) m, ${source}
    where c.id = m.id and ${seenBy(null)} order by c.id`)
  const threads = Map.groupBy(comments, ({ id, in_reply_to_id }) => in_reply_to_id ?? id)
  return [...threads].map(([id, comments]) => ({ id, comments }))
}

export interface ReviewCommentFilter {
  sort: 'created' | 'updated' | 'created_at'
  direction: 'asc' | 'desc'
  since: string
}

/** Comments of one pull request, or of all pull requests of a repository. */
export function listReviewComments(
  db: Queryable,
  of: { repo: Repository } | { pull: Pull },
  viewer: { id: number } | null,
  { sort, direction, since }: ReviewCommentFilter,
  slice: Slice,
): Promise<Listed<ReviewComment>> {
  const moment = parseIsoDate(since)
  const where = 'pull' in of ? sql`c.pull_id = ${of.pull.id}` : sql`c.repo_id = ${of.repo.id}`
  const condition = sql`${where} and ${seenBy(viewer)} ${moment ? sql`and c.updated_at >= ${moment}` : empty}`
  const down = direction === 'desc' ? sql`desc` : sql`asc`
  const order = sort === 'updated' ? sql`c.updated_at ${down}, c.id ${down}` : sql`c.id ${down}`
  return listed(db, { columns, source: sql`${source} where ${condition}`, order }, slice)
}

/** Comments of one review that is visible to the viewer. */
export function listCommentsOfReview(db: Queryable, review: { id: number }, slice: Slice): Promise<Listed<ReviewComment>> {
  return listed(db, { columns, source: sql`${source} where c.review_id = ${review.id}`, order: sql`c.id` }, slice)
}

export async function loadReviewComment(db: Queryable, repo: Repository, viewer: { id: number } | null, id: number) {
  return db.load<ReviewComment>(
    sql`select ${columns} from ${source} where c.repo_id = ${repo.id} and c.id = ${id} and ${seenBy(viewer)}`,
  )
}

export type NewReviewComment = DiffPosition & Pick<ReviewComment, 'body' | 'commit_id'> & { in_reply_to_id?: number | null }

/** Inserts comments of a review, and returns their ids in the same order. */
export async function putReviewComments(
  db: Transaction,
  review: { id: number; pull_id: number; repo_id: number; author_id: number },
  comments: NewReviewComment[],
): Promise<number[]> {
  if (!comments.length) return []
  const rows = await db.rows<{ id: number }>(sql`
    insert into review_comments (repo_id, pull_id, review_id, author_id, in_reply_to_id, body, path, commit_id, original_commit_id,
      diff_hunk, position, line, start_line, side, start_side, subject_type, created_at, updated_at)
    select ${review.repo_id}, ${review.pull_id}, ${review.id}, ${review.author_id}, in_reply_to_id, body, path, commit_id, commit_id,
      diff_hunk, position, line, start_line, side, start_side, subject_type, ${db.now}, ${db.now}
    from rows from (jsonb_to_recordset(${json(comments)}::jsonb) as (in_reply_to_id bigint, body text, path text,
      commit_id text, diff_hunk text, position integer, line integer, start_line integer, side text, start_side text,
      subject_type text)) with ordinality
    order by ordinality returning id`)
  return rows.map(({ id }) => id)
}

/** The bodies of a review's comments, oldest first. */
export function saidIn(db: Queryable, review: { id: number }): Promise<Pick<ReviewComment, 'id' | 'body'>[]> {
  return db.rows(sql`select id, body from review_comments where review_id = ${review.id} order by id`)
}
