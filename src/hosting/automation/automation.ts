import { sql, type Transaction } from '#platform/database.ts'

/** Belfry runs nothing itself: the switch says that something else does, so that an import must not set it off. */
export async function setAutomation(db: Transaction, repo: { id: number }, enabled: boolean) {
  await db.query(sql`update repositories set automation = ${enabled}, updated_at = ${db.now} where id = ${repo.id}`)
}
