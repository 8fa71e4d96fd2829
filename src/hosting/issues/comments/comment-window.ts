import { empty, type Queryable, sql } from '#platform/database.ts'
import { type Comment, loadComments } from './comments.ts'

/** Which comments to read: the last ones, those before a comment, or a comment and those after it. */
export interface CommentCursor {
  before?: number | undefined
  from?: number | undefined
}

/** Consecutive comments, oldest first, and whether there are earlier or later ones. */
export interface CommentWindow {
  comments: Comment[]
  earlier: boolean
  later: boolean
}

/** Reads by ids instead of offsets, so that the end of a long conversation is as fast as its beginning. */
export async function readCommentWindow(db: Queryable, issue: { id: number }, { before, from }: CommentCursor, length: number) {
  const beyond = from !== undefined ? sql`and id >= ${from}` : before !== undefined ? sql`and id < ${before}` : empty
  const down = from !== undefined ? empty : sql`desc`
  const rows = await db.rows<{ id: number }>(
    sql`select id from comments where issue_id = ${issue.id} ${beyond} order by id ${down} limit ${length + 1}`,
  )
  const ids = rows.slice(0, length).map(({ id }) => id)
  const comments = ids.length ? (await loadComments(db, ids)).toSorted((one, other) => one.id - other.id) : []
  const onward = rows.length > length
  if (from === undefined) return { comments, earlier: onward, later: before !== undefined }
  const { rowCount } = await db.query(sql`select from comments where issue_id = ${issue.id} and id < ${from} limit 1`)
  return { comments, earlier: rowCount === 1, later: onward }
}
