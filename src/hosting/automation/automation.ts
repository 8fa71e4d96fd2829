import { sql, type Transaction } from '#platform/database.ts'

/** Belfry runs no automation. The setting says that another system does, which an import must not trigger. */
export async function setAutomation(db: Transaction, repo: { id: number }, enabled: boolean) {
  await db.query(sql`update repositories set automation = ${enabled}, updated_at = ${db.now} where id = ${repo.id}`)
}
