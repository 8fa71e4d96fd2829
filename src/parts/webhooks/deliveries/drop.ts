import { notSentOutcome, recordIn } from '#parts/webhooks/sending/outcomes.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'

/** Deliveries in one transaction. */
const batch = 500

/** Records the waiting deliveries of an inactive hook as not sent, so that its owners see them and can redeliver them. */
export async function dropDeliveries(db: Database, hook_id: number) {
  let dropped = 0
  do dropped = await db.transaction((transaction) => dropBatch(transaction, hook_id))
  while (dropped === batch)
}

/** Leaves those that a sender owns: it checks the hook before it sends them. */
async function dropBatch(db: Transaction, hook_id: number): Promise<number> {
  const waiting = await db.rows<{ id: number; url: string }>(sql`
    select u.id, h.url from pending_deliveries u join hooks h on h.id = u.hook_id
    where u.hook_id = ${hook_id} and u.sender is null and not u.requested and not h.active
    order by u.id limit ${batch} for update of u skip locked`)
  if (waiting.length) {
    await recordIn(
      db,
      waiting.map(({ id, url }) => notSentOutcome({ id, hook_id, url }, db.now)),
    )
  }
  return waiting.length
}
