import { membershipJson, OrganizationMembership } from '#hosting/organizations/json.ts'
import { TeamSchema, teamJson } from '#hosting/teams/json.ts'
import { Answer, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { invalid } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import {
  acceptInvitation,
  cancelInvitation,
  invite,
  listFailed,
  listPending,
  listPendingOfTeam,
  listTeamsOfInvitation,
} from './invitations.ts'
import { InvitationSchema, invitationJson } from './json.ts'

const reading = { permission: 'members:read', scopes: ['admin:org'], org_role: 'owner' } as const
const writing = { permission: 'members:write', scopes: ['admin:org'], org_role: 'owner' } as const
const Id = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 })

/** The other documented roles do not exist here: there is no billing, and former roles are not kept. */
const roles: Record<string, 'admin' | 'member'> = { admin: 'admin', direct_member: 'member' }

function readRole(role = 'direct_member') {
  const known = roles[role]
  if (!known) {
    const message = `This server has no role ${role}. Send admin or direct_member.`
    throw invalid({ resource: 'OrganizationInvitation', code: 'invalid', field: 'role', message })
  }
  return known
}

export const api = group('Organization invitations', [
  get(
    '/orgs/{org}/invitations',
    {
      ...reading,
      operation: 'orgs/list-pending-invitations',
      summary: 'List invitations that wait for an answer',
      query: {
        role: choice('all', 'admin', 'direct_member', 'billing_manager', 'hiring_manager'),
        invitation_source: choice('all', 'member', 'scim'),
      },
      ...listOf(InvitationSchema),
    },
    async ({ db, org, query, page, wire }) => {
      const role = query.invitation_source === 'scim' ? 'none' : (roles[query.role] ?? query.role)
      return paged(await listPending(db, org, role, page), (row) => invitationJson(row, db.now, wire))
    },
  ),
  post(
    '/orgs/{org}/invitations',
    {
      ...writing,
      operation: 'orgs/create-invitation',
      summary: 'Invite a user by id or e-mail address, who accepts within seven days',
      body: Type.Partial(
        Type.Object({
          invitee_id: Id,
          email: Type.String({ maxLength: 255 }),
          role: Type.String({ maxLength: 50 }),
          team_ids: Type.Array(Id, { maxItems: 100 }),
        }),
      ),
      answers: { 201: InvitationSchema },
    },
    async ({ db, org, viewer, body: { role, team_ids = [], ...invitee }, wire }) => {
      const made = await invite(db, viewer, org, { ...invitee, role: readRole(role), team_ids })
      return new Answer(invitationJson(made, db.now, wire), { status: 201 })
    },
  ),
  get(
    '/orgs/{org}/failed_invitations',
    {
      ...reading,
      operation: 'orgs/list-failed-invitations',
      summary: 'List invitations that were not accepted in time',
      ...listOf(InvitationSchema),
    },
    async ({ db, org, page, wire }) => paged(await listFailed(db, org, page), (row) => invitationJson(row, db.now, wire)),
  ),
  del(
    '/orgs/{org}/invitations/{invitation_id}',
    { ...writing, operation: 'orgs/cancel-invitation', summary: 'Cancel an invitation', answers: { 204: Nothing } },
    ({ db, org, params }) => cancelInvitation(db, org, params.invitation_id),
  ),
  get(
    '/orgs/{org}/invitations/{invitation_id}/teams',
    {
      ...reading,
      operation: 'orgs/list-invitation-teams',
      summary: 'List the teams that the invited user joins',
      ...listOf(TeamSchema),
    },
    async ({ db, org, params, page, wire }) =>
      paged(await listTeamsOfInvitation(db, org, params.invitation_id, page), (row) => teamJson(row, wire)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/invitations',
    {
      ...reading,
      operation: 'teams/list-pending-invitations-in-org',
      summary: 'List invitations that wait for an answer and include a team',
      ...listOf(InvitationSchema),
    },
    async ({ db, team, page, wire }) =>
      paged(await listPendingOfTeam(db, team, page), (row) => invitationJson(row, db.now, wire)),
  ),
  patch(
    '/user/memberships/orgs/{org}',
    {
      operation: 'orgs/update-membership-for-authenticated-user',
      permission: 'classic',
      summary: 'Accept an invitation to an organization',
      scopes: ['write:org', 'user'],
      body: Type.Object({ state: Type.String({ enum: ['active'] }) }),
      answers: { 200: OrganizationMembership },
    },
    async ({ db, org, viewer, wire }) => membershipJson(await acceptInvitation(db, org, viewer), wire),
  ),
])
