import { suspend } from '#hosting/people/people.ts'
import { deleteRepository } from '#hosting/repositories/update.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'

/**
 * Deletes a user and their repositories. What they wrote in repositories of others remains, without an author. The suspension comes
 * first, so that no repository is created meanwhile. A repository is deleted in a transaction of its own, because each of them locks a fork
 * network; an interrupted deletion is resumed by the next one.
 */
export async function deleteUser(db: Database, deleter: Account, user: Account) {
  await db.transaction(async (transaction) => {
    await checkNoLastOwner(transaction, user)
    await suspend(transaction, user)
  })
  for (;;) {
    const repo = await db.first<{ id: number; network_id: number }>(sql`
      select id, network_id from repositories where owner_id = ${user.id} order by id limit 1`)
    if (!repo) break
    await db.transaction((transaction) => deleteRepository(transaction, deleter, repo))
  }
  await db.transaction(async (transaction) => {
    await checkNoLastOwner(transaction, user)
    await transaction.query(sql`delete from accounts where id = ${user.id}`)
  })
}

/** An organization keeps an owner. The lock makes concurrent removals of owners take turns. */
async function checkNoLastOwner(db: Transaction, user: Account) {
  const owners = await db.rows<{ org_id: number; login: string; user_id: number }>(sql`
    select m.org_id, o.login, m.user_id from memberships m join accounts o on o.id = m.org_id
    where m.role = 'admin' and m.org_id in (select org_id from memberships where user_id = ${user.id} and role = 'admin')
    order by m.org_id, m.user_id for update of m`)
  const alone = owners.find(
    ({ org_id, user_id }) => !owners.some((other) => other.org_id === org_id && other.user_id !== user_id),
  )
  if (alone) throw forbidden(`${user.login} is the last owner of ${alone.login}: make someone else an owner first.`)
}
