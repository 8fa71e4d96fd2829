import { publish } from '#activity/publish.ts'
import { type CommitObject, readCommit, resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { associationOf, personOf } from '#hosting/issues/authors.ts'
import { checkMayEdit } from '#hosting/issues/rights.ts'
import { type ReactionCounts, reactionCounts } from '#hosting/reactions/reactions.ts'
import { findAuthors, loadCommit } from '#hosting/refs/commits.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface CommitComment {
  id: number
  commit_id: string
  author: Person | null
  /** Who edited it last, if someone did. */
  editor: Person | null
  author_association: string
  body: string
  path: string | null
  position: number | null
  line: number | null
  /** Undefined in events, which show texts as they were. */
  reactions?: ReactionCounts
  created_at: Date
  updated_at: Date
}

const columns = sql`c.*, ${personOf(sql`c.author_id`)} as author, ${personOf(sql`c.editor_id`)} as editor,
  ${associationOf(sql`c.author_id`, sql`c.repo_id`)} as author_association,
  ${reactionCounts('commit_comment_id', sql`c.id`)} as reactions`

/** Comments by id, without a check of access: the caller has checked it. */
export function loadCommitComments(db: Queryable, ids: number[]): Promise<CommitComment[]> {
  return db.rows(sql`select ${columns} from commit_comments c where c.id = any(${ids})`)
}

/** Comments on one commit or on all, oldest first. */
export function listCommitComments(
  db: Queryable,
  repo: Repository,
  slice: Slice,
  commit_id?: string,
): Promise<Listed<CommitComment>> {
  const of = commit_id === undefined ? sql`` : sql`and c.commit_id = ${commit_id}`
  return listed(db, { columns, source: sql`commit_comments c where c.repo_id = ${repo.id} ${of}`, order: sql`c.id` }, slice)
}

export async function loadCommitComment(db: Queryable, repo: Repository, id: number): Promise<CommitComment> {
  return db.load<CommitComment>(sql`select ${columns} from commit_comments c where c.repo_id = ${repo.id} and c.id = ${id}`)
}

export interface NewCommitComment {
  body: string
  path?: string | null
  position?: number | null
  line?: number | null
}

export async function createCommitComment(
  db: Database,
  storage: Storage,
  repo: Repository,
  author: Account,
  name: string,
  { path = null, position = null, line = null, ...wanted }: NewCommitComment,
): Promise<CommitComment> {
  const body = checkBody(wanted.body)
  if (path === null && (position ?? line) !== null) throw fault('missing_field', 'path')
  const commit = await commitFacts(db, await loadCommit(storage, repo, name))
  return db.transaction(async (transaction) => {
    const made = await transaction.load<{ id: number }>(sql`
      insert into commit_comments (repo_id, commit_id, author_id, body, path, position, line, created_at, updated_at)
      values (${repo.id}, ${commit.commit_id}, ${author.id}, ${body}, ${path}, ${position}, ${line}, ${transaction.now}, ${transaction.now})
      returning id`)
    await publish(transaction, author, repo, { act: 'commit_comment.created', commit_comment_id: made.id, ...commit, body })
    return loadCommitComment(transaction, repo, made.id)
  })
}

export async function updateCommitComment(
  db: Database,
  storage: Storage,
  repo: Repository,
  editor: Account,
  id: number,
  wanted: string,
): Promise<CommitComment> {
  const { commit_id, author } = await loadCommitComment(db, repo, id)
  checkMayEdit(repo, editor, author)
  const body = checkBody(wanted)
  // Git may have removed an unreachable commit; its comments remain.
  const there = await resolveCommit(storage, repo.id, commit_id)
  const gone = { commit_id, title: commit_id.slice(0, 7), commit_author_id: null }
  const commit = there ? await commitFacts(db, await readCommit(storage, repo.id, there)) : gone
  return db.transaction(async (transaction) => {
    const before = await transaction.load<{ body: string }>(
      sql`select body from commit_comments where id = ${id} and repo_id = ${keptId(repo)} for no key update`,
    )
    await transaction.query(
      sql`update commit_comments set body = ${body}, editor_id = ${editor.id}, updated_at = greatest(updated_at, ${transaction.now}) where id = ${id}`,
    )
    if (before.body !== body) {
      const facts = { commit_comment_id: id, ...commit, body, changes: { body: { from: before.body } } }
      await publish(transaction, editor, repo, { act: 'commit_comment.edited', ...facts })
    }
    return loadCommitComment(transaction, repo, id)
  })
}

export async function deleteCommitComment(db: Transaction, repo: Repository, editor: Account, id: number) {
  checkMayEdit(repo, editor, (await loadCommitComment(db, repo, id)).author)
  const { rowCount } = await db.query(sql`delete from commit_comments where id = ${id}`)
  if (!rowCount) throw missing()
}

const longestTitle = 256

/** The title is the first line of the message, without characters that PostgreSQL does not store. */
async function commitFacts(db: Queryable, commit: CommitObject) {
  const [line = ''] = commit.message
    .replaceAll('\0', '')
    .trimStart()
    .split(/[\r\n]/, 1)
  const { author } = await findAuthors(db, commit)
  const title = line.slice(0, longestTitle).toWellFormed()
  return { commit_id: commit.sha, title, commit_author_id: author?.id ?? null }
}

function checkBody(body: string) {
  if (body.trim() === '') throw fault('missing_field', 'body')
  return body
}

const fault = (code: 'missing_field' | 'invalid', field: string) => invalid({ resource: 'CommitComment', code, field })
