import { publish } from '#activity/publish.ts'
import { lockForComment } from '#hosting/issues/issues.ts'
import { checkMayEdit, mayPush } from '#hosting/issues/rights.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid } from '#platform/errors.ts'
import { loadComment } from './comments.ts'

export async function createComment(db: Transaction, repo: Repository, author: Account, number: number, body: string) {
  const issue = await lockForComment(db, repo, number)
  if (issue.locked && !mayPush(repo)) throw forbidden('Unable to create comment because issue is locked.')
  const made = await db.load<{ id: number }>(sql`
    insert into comments (repo_id, issue_id, author_id, body, created_at, updated_at)
    values (${repo.id}, ${issue.id}, ${author.id}, ${checkBody(body)}, ${db.now}, ${db.now}) returning id`)
  const facts = { issue_id: issue.id, pull_id: issue.pull_id, comment_id: made.id, body }
  const published = publish(db, author, repo, { act: 'issue_comment.created', ...facts })
  const [, comment] = await Promise.all([published, loadComment(db, repo, made.id)])
  return comment
}

export async function updateComment(db: Transaction, repo: Repository, editor: Account, id: number, body: string) {
  const { author, issue_id, pull_id } = await loadComment(db, repo, id)
  checkMayEdit(repo, editor, author)
  const held = await db.load<{ body: string }>(sql`select body from comments where id = ${id} for no key update`)
  await db.query(
    sql`update comments set body = ${checkBody(body)}, updated_at = greatest(updated_at, ${db.now}) where id = ${id}`,
  )
  const changes = changesOf(held, { body }, 'body')
  const facts = { issue_id, pull_id, comment_id: id, body }
  if (changes) await publish(db, editor, repo, { act: 'issue_comment.edited', ...facts, changes })
  return loadComment(db, repo, id)
}

export async function deleteComment(db: Transaction, repo: Repository, editor: Account, id: number) {
  const { author, issue_id, pull_id } = await loadComment(db, repo, id)
  checkMayEdit(repo, editor, author)
  await db.load(sql`select from comments where id = ${id} for update`)
  await publish(db, editor, repo, { act: 'issue_comment.deleted', issue_id, pull_id, comment_id: id })
  await db.query(sql`delete from comments where id = ${id}`)
}

function checkBody(body: string) {
  if (body.trim() === '') throw invalid({ resource: 'IssueComment', code: 'missing_field', field: 'body' })
  return body
}
