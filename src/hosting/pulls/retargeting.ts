import { publish } from '#activity/publish.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'

/** A branch that was renamed. */
interface Rename {
  from: string
  to: string
  pusher_id: number
}

/** A pull request that got another base. */
export interface Retargeted {
  issue_id: number
  pull_id: number
  pusher_id: number
  from: string
  sha: string
}

/** Locks the pull requests before their repository, like `lockMerged`. */
export async function lockRetargeted(db: Transaction, repo_id: number, renames: Rename[]) {
  const names = renames.map(({ from }) => from)
  if (!names.length) return
  await db.query(sql`
    select from issues where state = 'open' and id in (
      select issue_id from pulls where repo_id = ${keptId({ id: repo_id })} and base_ref = any(${names})
      union select issue_id from pulls where head_repo_id = ${repo_id} and head_ref = any(${names}))
    order by id for no key update`)
}

/**
 * Gives open pull requests the new name of their base or head. A job announces each new base, because a branch may be the base of
 * thousands.
 */
export async function retargetPulls(db: Transaction, repo: { id: number }, { from, to, pusher_id }: Rename) {
  await db.query(sql`
    update pulls p set head_ref = ${to} from issues i
    where i.id = p.issue_id and i.state = 'open' and p.head_repo_id = ${repo.id} and p.head_ref = ${from}`)
  await db.query(sql`
    with changed as (
      update pulls p set base_ref = ${to} from issues i
      where i.id = p.issue_id and i.state = 'open' and p.repo_id = ${repo.id} and p.base_ref = ${from}
      returning p.id, p.issue_id, p.base_sha),
    touched as (
      update issues set updated_at = greatest(updated_at, ${db.now}) where id in (select issue_id from changed))
    select enqueue_job('announce_base', json_build_object('issue_id', issue_id, 'pull_id', id, 'pusher_id', ${pusher_id}::bigint,
      'from', ${from}::text, 'sha', base_sha)) from changed`)
}

export async function announceBase(db: Database, { issue_id, pull_id, pusher_id, from, sha }: Retargeted) {
  await db.transaction(async (transaction) => {
    const pull = await transaction.first<{ repo_id: number }>(sql`select repo_id from pulls where id = ${pull_id}`)
    if (!pull) return
    const changes = { base: { ref: { from }, sha: { from: sha } } }
    await publish(transaction, { id: pusher_id }, { id: pull.repo_id }, { act: 'pull.base_changed', issue_id, pull_id, changes })
  })
}
