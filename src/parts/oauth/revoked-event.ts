import { storeDeliveries } from '#activity/outbox/outbox.ts'
import { type SubscribedHook, subscribedHookColumns } from '#activity/outbox/subscribed-hooks.ts'
import { unaddressed as wire } from '#hosting/payloads/payload-context.ts'
import { userJson } from '#hosting/people/json.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'

/** An app is sent that a user ended its authorization, without subscribing. */
export async function enqueueRevokedEvent(db: Transaction, application: { id: number }, user: { id: number }) {
  const hook = await db.first<SubscribedHook>(sql`
    select ${subscribedHookColumns} from apps p join hooks h on h.app_id = p.id
    where p.application_id = ${application.id} and h.active and h.deleted_at is null and app_is_enabled(p.id)`)
  if (!hook) return
  const sender = await db.load<Person>(sql`select ${personColumns} from accounts a where a.id = ${user.id}`)
  const body = JSON.stringify({ action: 'revoked', sender: userJson(sender, wire) })
  await storeDeliveries(db, null, [{ event: 'github_app_authorization', action: 'revoked', body, hooks: [hook] }])
}
