import type { Transaction } from '#platform/database.ts'
import { type OrganizationAct, organizationWebhooksOf } from './acts.ts'
import { recordPublished } from './audit.ts'
import { deliverInOrganization } from './outbox/organization-outbox.ts'

/**
 * Publishes what a user did in an organization: records it in the audit log, and enqueues webhook deliveries, as `organizationActs` says for each act. Call it once for a
 * change, in its transaction: after the rows are written, because payloads show them, and before rows are deleted.
 */
export async function publishInOrganization(
  db: Transaction,
  actor: { id: number },
  org: { id: number },
  ...published: OrganizationAct[]
) {
  const events = published.flatMap(({ act, ...facts }) => organizationWebhooksOf(act).map((webhook) => ({ ...webhook, facts })))
  await recordPublished(db, actor, { org_id: org.id }, published)
  if (events.length) await deliverInOrganization(db, actor, org, events)
}
