import { empty, type Queryable, sql } from '#platform/database.ts'
import { type Comment, loadComments } from './comments.ts'

/** Where in a conversation to look: at its end, at what comes before a comment, or at a comment and what follows. */
export interface CommentPlace {
  before?: number | undefined
  from?: number | undefined
}

/** Some comments that follow each other, oldest first, and whether there are others on either side. */
export interface CommentStretch {
  comments: Comment[]
  earlier: boolean
  later: boolean
}

/** By ids and not by counting, so that the end of a long conversation is as near as its beginning. */
export async function readStretch(
  db: Queryable,
  issue: { id: number },
  { before, from }: CommentPlace,
  length: number,
): Promise<CommentStretch> {
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
