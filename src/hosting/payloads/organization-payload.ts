import type { OrganizationWebhookName } from '#activity/acts.ts'
import type { Facts } from '#activity/facts.ts'
import type { OrganizationEvent, OrganizationPayloadComposer } from '#activity/outbox/organization-outbox.ts'
import { invitationJson } from '#hosting/organization-invitations/json.ts'
import { membershipJson, simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { teamJson } from '#hosting/teams/json.ts'
import { type Account, accountColumns, type Person } from '#identity/accounts.ts'
import { sql } from '#platform/database.ts'
import { ghost, mustGet, unaddressed as wire } from './payload-context.ts'
import { loadReferencedRecords, type ReferencedRecords } from './referenced-records.ts'
import { deliveredRepositoryJson } from './repository-payload.ts'

interface OrganizationContext {
  org: Account
  sender: Person
  records: ReferencedRecords
  now: Date
}

/** What an event has besides action, repository, organization and sender; undefined when receivers must not get it. */
type Fields = (facts: Partial<Facts>, context: OrganizationContext) => object | undefined

const payloads: Record<OrganizationWebhookName, Fields> = {
  organization: ({ changes, member_id, organization_invitation_id, role = 'member' }, { org, records, now }) => {
    if (member_id === undefined) return { changes }
    const user = mustGet(records.accounts, member_id)
    if (organization_invitation_id !== undefined) {
      const invitation = mustGet(records.organization_invitations, organization_invitation_id)
      const { invitation_source, ...shown } = invitationJson(invitation, now, wire)
      return { invitation: shown, user: userJson(user, wire) }
    }
    const { organization, ...membership } = membershipJson({ org, user, role }, wire)
    return { membership }
  },
  member: (facts, context) => ({ ...memberField(facts, context), ...(facts.changes && { changes: facts.changes }) }),
  membership: (facts, context) => ({ scope: 'team', ...memberField(facts, context), ...teamField(facts, context) }),
  team: (facts, context) => ({ ...(facts.changes && { changes: facts.changes }), ...teamField(facts, context) }),
  // Hooks of the repository get it too, and whoever manages them may not know a secret team.
  team_add: (facts, context) => {
    const secret = mustGet(context.records.organization_teams, facts.team_id).privacy === 'secret'
    return secret ? undefined : teamField(facts, context)
  },
}

function memberField({ member_id }: Partial<Facts>, { records }: OrganizationContext) {
  return { member: userJson(mustGet(records.accounts, member_id), wire) }
}

/** The permission is the one in the repository, if the act is about one. */
function teamField({ team_id, access }: Partial<Facts>, { records }: OrganizationContext) {
  const team = mustGet(records.organization_teams, team_id)
  return { team: teamJson(team, wire, access ?? team.access) }
}

export const composeOrganizationPayloads: OrganizationPayloadComposer = async (db, actor, { id }, events) => {
  const accounts = await db.rows<Account>(sql`select ${accountColumns} from accounts a where a.id = any(${[actor.id, id]})`)
  const org = accounts.find((account) => account.id === id)
  if (!org) return []
  const sender = accounts.find((account) => account.id === actor.id) ?? ghost
  const records = await loadReferencedRecords(
    db,
    events.map(({ facts }) => facts),
  )
  return events.map((event) => writePayload(event, { org, sender, records, now: db.now }))
}

function writePayload({ event, action, facts }: OrganizationEvent, context: OrganizationContext): string | undefined {
  const fields = payloads[event](facts, context)
  if (!fields) return undefined
  const { org, sender, records } = context
  return JSON.stringify({
    ...(action && { action }),
    ...fields,
    ...(facts.repo_id !== undefined && { repository: deliveredRepositoryJson(mustGet(records.repositories, facts.repo_id)) }),
    organization: simpleOrganizationJson(org, wire),
    sender: userJson(sender, wire),
  })
}
