import { publish } from '#activity/publish.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import { checkEnabled, checkMayEdit, mayPush } from '#hosting/issues/rights.ts'
import { recordReferences } from '#hosting/mentions/cross-references.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid, missing } from '#platform/errors.ts'
import { type Comment, commentColumns, loadComment } from './comments.ts'

export async function createComment(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  author: Account,
  number: number,
  body: string,
): Promise<Comment> {
  const allowed = sql`(${mayPush(repo)} or not held.locked) and ${!isEmpty(body)}`
  // Locks the issue, so that concurrent changes of it take turns.
  const made = await db.first<Comment & Pick<Issue, 'locked'>>(sql`
    with held as (
      select i.id, i.number, i.locked, p.id as pull_id from issues i left join pulls p on p.issue_id = i.id
      where i.repo_id = ${keptId(repo)} and i.number = ${number} for no key update of i
    ), made as (
      insert into comments (repo_id, issue_id, author_id, body, created_at, updated_at)
      select ${repo.id}, held.id, ${author.id}, ${body}, ${db.now}, ${db.now} from held where ${allowed} returning *
    )
    select ${commentColumns}, i.locked from held i cross join lateral (select i.pull_id as id) p left join made c on true`)
  if (!made?.pull_id) checkEnabled(repo)
  if (!made) throw missing()
  const { locked, ...comment } = made
  if (locked && !mayPush(repo)) throw forbidden('Unable to create comment because issue is locked.')
  checkBody(body)
  const { issue_id, pull_id, id: comment_id } = comment
  await publish(db, author, repo, { act: 'issue_comment.created', issue_id, pull_id, comment_id, body })
  await recordReferences(db, viewer, repo, author, { issue_id, comment_id }, body)
  return comment
}

export async function updateComment(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  editor: Account,
  id: number,
  body: string,
) {
  const { author, issue_id, pull_id } = await loadComment(db, repo, id)
  checkMayEdit(repo, editor, author)
  const held = await db.load<{ body: string }>(
    sql`select body from comments where id = ${id} and repo_id = ${keptId(repo)} for no key update`,
  )
  await db.query(
    sql`update comments set body = ${checkBody(body)}, editor_id = ${editor.id}, updated_at = greatest(updated_at, ${db.now}) where id = ${id}`,
  )
  const changes = changesOf(held, { body }, 'body')
  const facts = { issue_id, pull_id, comment_id: id, body }
  if (changes) {
    await publish(db, editor, repo, { act: 'issue_comment.edited', ...facts, changes })
    await recordReferences(db, viewer, repo, editor, { issue_id, comment_id: id }, body)
  }
  return loadComment(db, repo, id)
}

export async function deleteComment(db: Transaction, repo: Repository, editor: Account, id: number) {
  const { author, issue_id, pull_id } = await loadComment(db, repo, id)
  checkMayEdit(repo, editor, author)
  await db.load(sql`select from comments where id = ${id} and repo_id = ${keptId(repo)} for update`)
  await publish(db, editor, repo, { act: 'issue_comment.deleted', issue_id, pull_id, comment_id: id })
  await db.query(sql`delete from comments where id = ${id}`)
}

function checkBody(body: string) {
  if (isEmpty(body)) throw invalid({ resource: 'IssueComment', code: 'missing_field', field: 'body' })
  return body
}

const isEmpty = (body: string) => body.trim() === ''
