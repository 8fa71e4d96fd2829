import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Address, NullableString, NullableTimestamp, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { OrganizationInvitation } from './invitations.ts'

export const InvitationSchema = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    login: NullableString,
    email: NullableString,
    role: Type.String(),
    created_at: Timestamp,
    failed_at: NullableTimestamp,
    failed_reason: NullableString,
    inviter: SimpleUser,
    team_count: Type.Integer(),
    invitation_teams_url: Address,
    invitation_source: Type.String(),
  },
  { title: 'OrganizationInvitation' },
)

export const documentedRole = (role: string) => (role === 'member' ? 'direct_member' : role)

/** An invitation that was not accepted in time has failed. */
export function invitationJson(invitation: OrganizationInvitation, now: Date, wire: Wire): Static<typeof InvitationSchema> {
  const { id, org_login, expires_at } = invitation
  const failed = expires_at <= now
  return {
    id,
    node_id: nodeId('OrganizationInvitation', id),
    login: invitation.login,
    email: invitation.email,
    role: documentedRole(invitation.role),
    created_at: timestamp(invitation.created_at),
    failed_at: failed ? timestamp(expires_at) : null,
    failed_reason: failed ? 'Invitation expired. User did not accept this invite for 7 days.' : null,
    inviter: userJson(invitation.inviter, wire),
    team_count: invitation.team_count,
    invitation_teams_url: `${wire.api}/orgs/${org_login}/invitations/${id}/teams`,
    invitation_source: 'member',
  }
}
