import type { Organization } from '#hosting/organizations/organizations.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { TeamMembership, teamMembershipJson } from '#hosting/teams/json.ts'
import {
  checkMaintainer,
  findTeamRole,
  listTeamMembers,
  removeFromTeam,
  setTeamRole,
  type Team,
  type TeamRole,
} from '#hosting/teams/teams.ts'
import { del, get, group, listOf, paged, put } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import type { Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'

const reading = { permission: 'members:read', scopes: ['read:org'] } as const
const writing = { permission: 'members:write', scopes: ['write:org'] } as const

interface Leaving {
  db: Transaction
  org: Organization
  team: Team
  user: Account
  viewer: Account
}

function leaveTeam({ db, org, team, user, viewer }: Leaving) {
  if (user.id !== viewer.id) checkMaintainer(org, team)
  return removeFromTeam(db, viewer, team, user)
}

export const api = group('Team members', [
  get(
    '/orgs/{org}/teams/{team_slug}/members',
    {
      ...reading,
      operation: 'teams/list-members-in-org',
      summary: 'List the members of a team',
      query: { role: choice('all', 'maintainer', 'member') },
      ...listOf(SimpleUser),
    },
    async ({ db, team, query, page, wire }) =>
      paged(await listTeamMembers(db, team, query.role, page), (row) => userJson(row, wire)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/members/{username}',
    {
      ...reading,
      operation: 'teams/get-member-legacy',
      summary: 'Check whether a user is a member of a team: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, team, user }) => {
      if (!(await findTeamRole(db, team, user))) throw missing()
    },
  ),
  put(
    '/orgs/{org}/teams/{team_slug}/members/{username}',
    {
      ...writing,
      operation: 'teams/add-member-legacy',
      summary: 'Add a user to a team; a member keeps their role',
      answers: { 204: Nothing },
    },
    async ({ db, org, team, user, viewer }) => {
      checkMaintainer(org, team)
      if (!(await findTeamRole(db, team, user))) await setTeamRole(db, viewer, org, team, user, 'member')
    },
  ),
  del(
    '/orgs/{org}/teams/{team_slug}/members/{username}',
    {
      ...writing,
      operation: 'teams/remove-member-legacy',
      summary: 'Remove a user from a team, or leave it',
      answers: { 204: Nothing },
    },
    leaveTeam,
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/memberships/{username}',
    {
      ...reading,
      operation: 'teams/get-membership-for-user-in-org',
      summary: "Get a user's role in a team",
      answers: { 200: TeamMembership },
    },
    async ({ db, team, user, wire }) => {
      const role = await findTeamRole(db, team, user)
      if (!role) throw missing()
      return teamMembershipJson(team, user, role, wire)
    },
  ),
  put(
    '/orgs/{org}/teams/{team_slug}/memberships/{username}',
    {
      ...writing,
      operation: 'teams/add-or-update-membership-for-user-in-org',
      summary: 'Add a user to a team, or change their role',
      body: Type.Object({ role: Type.Optional(Type.Unsafe<TeamRole>({ type: 'string', enum: ['member', 'maintainer'] })) }),
      answers: { 200: TeamMembership },
    },
    async ({ db, org, team, user, viewer, body, wire }) => {
      checkMaintainer(org, team)
      const role = body.role ?? 'member'
      await setTeamRole(db, viewer, org, team, user, role)
      return teamMembershipJson(team, user, role, wire)
    },
  ),
  del(
    '/orgs/{org}/teams/{team_slug}/memberships/{username}',
    {
      ...writing,
      operation: 'teams/remove-membership-for-user-in-org',
      summary: 'Remove a user from a team, or leave it',
      answers: { 204: Nothing },
    },
    leaveTeam,
  ),
])
