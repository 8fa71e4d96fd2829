import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkAccess } from '#identity/access.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { empty, type Queryable, raw, type Sql, sql, type Transaction } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export const contents = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'] as const
export type Content = (typeof contents)[number]

/** The columns of `reactions` that refer to a text. */
export type SubjectColumn = 'issue_id' | 'comment_id' | 'review_comment_id' | 'commit_comment_id' | 'release_id'

/** A text that users react to. */
export interface Subject {
  column: SubjectColumn
  id: number
  /** Only users with push access react in a locked conversation. */
  locked: boolean
}

export interface Reaction {
  id: number
  user: Person
  content: Content
  created_at: Date
}

/** How many reactions of each kind a text has; null when there are none. */
export type ReactionCounts = Partial<Record<Content, number>> | null

/** The counts of a text, as a column of the statement that reads it. */
export const reactionCounts = (column: SubjectColumn, id: Sql) => sql`(
  select json_object_agg(counted.content, counted.number)
  from (select content, count(*) as number from reactions where ${raw(column)} = ${id} group by content) counted)`

const columns = sql`n.id, n.content, n.created_at,
  json_build_object('id', a.id, 'type', a.type, 'login', a.login, 'site_admin', a.site_admin) as user`
const source = sql`reactions n join accounts a on a.id = n.user_id`

/** Oldest first. */
export function listReactions(
  db: Queryable,
  { column, id }: Subject,
  content: Content | '',
  slice: Slice,
): Promise<Listed<Reaction>> {
  const kind = content === '' ? empty : sql`and n.content = ${content}`
  return listed(db, { columns, source: sql`${source} where n.${raw(column)} = ${id} ${kind}`, order: sql`n.id` }, slice)
}

/** The user's own reactions to texts, for the pages that show them. */
export function listOwnReactions(
  db: Queryable,
  user: { id: number },
  column: SubjectColumn,
  ids: number[],
): Promise<{ id: number; content: Content }[]> {
  return db.rows(sql`
    select ${raw(column)} as id, content from reactions where ${raw(column)} = any(${ids}) and user_id = ${user.id}`)
}

/** Reacts, or takes the same reaction back. */
export async function toggleReaction(db: Transaction, repo: Repository, user: Account, subject: Subject, content: Content) {
  const { reaction, added } = await react(db, repo, user, subject, content)
  if (!added) await deleteReaction(db, user, subject, reaction.id)
}

/** Reacting again in the same way changes nothing. */
export async function react(
  db: Transaction,
  repo: Repository,
  user: Account,
  { column, id, locked }: Subject,
  content: Content,
): Promise<{ reaction: Reaction; added: boolean }> {
  if (locked) checkAccess(repo.access, 'push')
  const { rowCount } = await db.query(sql`
    insert into reactions (user_id, content, ${raw(column)}, created_at) values (${user.id}, ${content}, ${id}, ${db.now})
    on conflict do nothing`)
  const reaction = await db.load<Reaction>(sql`
    select ${columns} from ${source} where n.${raw(column)} = ${id} and n.user_id = ${user.id} and n.content = ${content}`)
  return { reaction, added: rowCount === 1 }
}

export async function deleteReaction(db: Transaction, user: Account, { column, id }: Subject, reaction_id: number) {
  const found = await db.load<{ user_id: number }>(sql`
    select user_id from reactions where id = ${reaction_id} and ${raw(column)} = ${id}`)
  if (found.user_id !== user.id) throw forbidden('You can only delete your own reactions.')
  await db.query(sql`delete from reactions where id = ${reaction_id}`)
}
