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
  /** When the first of them was written, if there are earlier ones; and when the first of the later ones was. */
  since: Date | null
  until: Date | null
}

/** Reads by ids instead of offsets, so that the end of a long conversation is as fast as its beginning. */
export async function readCommentWindow(
  db: Queryable,
  issue: { id: number },
  { before, from }: CommentCursor,
  length: number,
): Promise<CommentWindow> {
  const beyond = from !== undefined ? sql`and id >= ${from}` : before !== undefined ? sql`and id < ${before}` : empty
  const down = from !== undefined ? empty : sql`desc`
  const rows = await db.rows<{ id: number }>(
    sql`select id from comments where issue_id = ${issue.id} ${beyond} order by id ${down} limit ${length + 1}`,
  )
  const ids = rows.slice(0, length).map(({ id }) => id)
  const comments = ids.length ? (await loadComments(db, ids)).toSorted((one, other) => one.id - other.id) : []
  const onward = rows.length > length
  const earlier = from === undefined ? onward : (await writtenAt(db, issue, from, 'before')) !== null
  const after = from === undefined ? before : onward ? (comments.at(-1)?.id ?? 0) + 1 : undefined
  const until = after === undefined ? null : await writtenAt(db, issue, after, 'from')
  const later = from === undefined ? before !== undefined : onward
  return { comments, earlier, later, since: earlier ? (comments[0]?.created_at ?? until ?? db.now) : null, until }
}

/** When the comment nearest to an id was written; null when there is none on that side. */
async function writtenAt(db: Queryable, issue: { id: number }, id: number, side: 'before' | 'from'): Promise<Date | null> {
  const beyond = side === 'from' ? sql`id >= ${id} order by id` : sql`id < ${id} order by id desc`
  const found = await db.first<{ created_at: Date }>(
    sql`select created_at from comments where issue_id = ${issue.id} and ${beyond} limit 1`,
  )
  return found?.created_at ?? null
}
