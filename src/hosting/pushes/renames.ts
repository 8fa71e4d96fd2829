import { recordPublished } from '#activity/audit.ts'
import { publish } from '#activity/publish.ts'
import { noObject } from '#git/objects.ts'
import { retargetPulls } from '#hosting/pulls/retargeting.ts'
import { sql, type Transaction } from '#platform/database.ts'
import type { Move } from './ref-moves.ts'

/** A rename is a push that creates one branch and deletes another. Each of its commands names both. */
export const renamesOf = (moves: Move[]) =>
  moves.flatMap(({ command, after, push }) =>
    command?.renames && after === noObject ? [{ ...command.renames, pusher_id: push.pusher_id }] : [],
  )

/**
 * Moves what belongs to a branch to its new name, in the transaction that records the push: even after a crash, no pull request has
 * a base that does not exist. Returns the default branch.
 */
export async function recordRenames(
  db: Transaction,
  repo: { id: number; default_branch: string },
  moves: Move[],
): Promise<string> {
  let { default_branch } = repo
  for (const { from, to, pusher_id } of renamesOf(moves)) {
    await retargetPulls(db, repo, { from, to, pusher_id })
    await db.query(sql`
      delete from branch_protections where repo_id = ${repo.id} and branch = ${to}
        and exists (select from branch_protections where repo_id = ${repo.id} and branch = ${from})`)
    const { rowCount } = await db.query(sql`
      update branch_protections set branch = ${to} where repo_id = ${repo.id} and branch = ${from}`)
    if (rowCount) await recordPublished(db, { id: pusher_id }, { repo_id: repo.id }, [{ act: 'protection.move' }])
    await redirect(db, repo, from, to)
    if (from !== default_branch) continue
    default_branch = to
    await db.query(sql`update repositories set default_branch = ${to} where id = ${repo.id}`)
    await publish(db, { id: pusher_id }, repo, { act: 'repo.edited', changes: { default_branch: { from } } })
  }
  return default_branch
}

/** Every former name leads to the present one. */
async function redirect(db: Transaction, repo: { id: number }, from: string, to: string) {
  await db.query(sql`delete from branch_redirects where repo_id = ${repo.id} and name = ${to}`)
  await db.query(sql`update branch_redirects set branch = ${to} where repo_id = ${repo.id} and branch = ${from}`)
  await db.query(sql`
    insert into branch_redirects (repo_id, name, branch) values (${repo.id}, ${from}, ${to})
    on conflict (repo_id, name) do update set branch = excluded.branch`)
}
