import { organizationJson } from '#hosting/organizations/json.ts'
import { loadOrganization, type Organization } from '#hosting/organizations/organizations.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { countStanding } from '#hosting/people/people.ts'
import { RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import { Answer, created, del, get, group, paged, patch, post, put } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing, NullableString, type Wire } from '#http/serialization.ts'
import { accessNames, checkAccess, levelOf, permissionsOf, roleOf } from '#identity/access.ts'
import type { Queryable } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { FullTeam, fullTeamJson, TeamMembership, TeamSchema, teamJson, teamMembershipJson } from './json.ts'
import {
  checkMaintainer,
  createTeam,
  deleteTeam,
  findTeamAccess,
  findTeamRole,
  listTeamMembers,
  listTeamRepositories,
  listTeams,
  listTeamsOf,
  listTeamsWith,
  type Privacy,
  removeFromTeam,
  removeTeamAccess,
  setTeamAccess,
  setTeamRole,
  type Team,
  type TeamRole,
  updateTeam,
} from './teams.ts'

const PrivacyName = Type.Unsafe<Privacy>({ type: 'string', enum: ['closed', 'secret'] })

async function whole(db: Queryable, org: Organization, team: Team, wire: Wire) {
  return fullTeamJson(team, organizationJson(org, await countStanding(db, org), wire), wire)
}

export const api = group('Teams', [
  get(
    '/orgs/{org}/teams',
    {
      operation: 'teams/list',
      permission: 'members:read',
      summary: 'List the teams of an organization, for its members',
      scopes: ['read:org'],
      org_role: 'member',
      list: true,
      answers: { 200: Type.Array(TeamSchema) },
    },
    async ({ db, org, viewer, page, wire }) => paged(await listTeams(db, viewer.id, org, page), (row) => teamJson(row, wire)),
  ),
  post(
    '/orgs/{org}/teams',
    {
      operation: 'teams/create',
      permission: 'members:write',
      summary: 'Create a team; the caller becomes its first maintainer',
      scopes: ['write:org'],
      org_role: 'member',
      body: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 100 }),
        description: Type.Optional(NullableString),
        privacy: Type.Optional(PrivacyName),
      }),
      answers: { 201: FullTeam },
    },
    async ({ db, org, viewer, body, wire }) => created(await whole(db, org, await createTeam(db, org, viewer, body), wire)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}',
    {
      operation: 'teams/get-by-name',
      permission: 'members:read',
      summary: 'Get a team',
      scopes: ['read:org'],
      answers: { 200: FullTeam },
    },
    ({ db, org, team, wire }) => whole(db, org, team, wire),
  ),
  patch(
    '/orgs/{org}/teams/{team_slug}',
    {
      operation: 'teams/update-in-org',
      permission: 'members:write',
      summary: 'Change a team; its slug follows its name',
      scopes: ['write:org'],
      body: Type.Partial(
        Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }), description: NullableString, privacy: PrivacyName }),
      ),
      answers: { 200: FullTeam },
    },
    async ({ db, org, team, viewer, body, wire }) => {
      checkMaintainer(org, team)
      return whole(db, org, await updateTeam(db, viewer.id, org, team, body), wire)
    },
  ),
  del(
    '/orgs/{org}/teams/{team_slug}',
    {
      operation: 'teams/delete-in-org',
      permission: 'members:write',
      summary: 'Delete a team',
      scopes: ['write:org'],
      answers: { 204: Nothing },
    },
    ({ db, org, team }) => {
      checkMaintainer(org, team)
      return deleteTeam(db, team)
    },
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/members',
    {
      operation: 'teams/list-members-in-org',
      permission: 'members:read',
      summary: 'List the members of a team',
      scopes: ['read:org'],
      query: { role: choice('all', 'maintainer', 'member') },
      list: true,
      answers: { 200: Type.Array(SimpleUser) },
    },
    async ({ db, team, query, page, wire }) =>
      paged(await listTeamMembers(db, team, query.role, page), (row) => userJson(row, wire)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/memberships/{username}',
    {
      operation: 'teams/get-membership-for-user-in-org',
      permission: 'members:read',
      summary: "Get a user's role in a team",
      scopes: ['read:org'],
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
      operation: 'teams/add-or-update-membership-for-user-in-org',
      permission: 'members:write',
      summary: 'Add a user to a team, or change their role',
      scopes: ['write:org'],
      body: Type.Object({ role: Type.Optional(Type.Unsafe<TeamRole>({ type: 'string', enum: ['member', 'maintainer'] })) }),
      answers: { 200: TeamMembership },
    },
    async ({ db, org, team, user, body, wire }) => {
      checkMaintainer(org, team)
      const role = body.role ?? 'member'
      await setTeamRole(db, org, team, user, role)
      return teamMembershipJson(team, user, role, wire)
    },
  ),
  del(
    '/orgs/{org}/teams/{team_slug}/memberships/{username}',
    {
      operation: 'teams/remove-membership-for-user-in-org',
      permission: 'members:write',
      summary: 'Remove a user from a team, or leave it',
      scopes: ['write:org'],
      answers: { 204: Nothing },
    },
    ({ db, org, team, user, viewer }) => {
      if (user.id !== viewer.id) checkMaintainer(org, team)
      return removeFromTeam(db, team, user)
    },
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/repos',
    {
      operation: 'teams/list-repos-in-org',
      permission: 'members:read',
      summary: 'List the repositories of a team',
      scopes: ['read:org'],
      list: true,
      answers: { 200: Type.Array(RepositorySchema) },
    },
    async ({ db, caller, team, page, wire }) =>
      paged(await listTeamRepositories(db, caller, team, page), (row) => repositoryJson(row, wire, true)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      operation: 'teams/check-permissions-for-repo-in-org',
      permission: 'members:read',
      summary: 'Check whether a team has access to a repository: 204 (200 with the repository media type) or 404',
      scopes: ['read:org'],
      answers: { 204: Nothing, 200: Type.Object({ ...RepositorySchema.properties, role_name: Type.String() }) },
    },
    async ({ db, team, repo, dialect, wire }) => {
      const access = await findTeamAccess(db, team, repo)
      if (access === undefined) throw missing()
      if (!dialect.media.has('repository')) return new Answer(undefined, { status: 204 })
      const body = { ...repositoryJson(repo, wire, true), permissions: permissionsOf(access), role_name: roleOf(access) }
      return new Answer(body, { status: 200 })
    },
  ),
  put(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      operation: 'teams/add-or-update-repo-permissions-in-org',
      permission: 'members:write',
      summary: 'Give a team access to a repository, `pull` by default',
      scopes: ['write:org'],
      access: 'admin',
      body: Type.Object({ permission: Type.Optional(Type.String({ enum: accessNames })) }),
      answers: { 204: Nothing },
    },
    ({ db, team, repo, body }) => setTeamAccess(db, team, repo, levelOf(body.permission ?? 'pull')),
  ),
  del(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      operation: 'teams/remove-repo-in-org',
      permission: 'members:write',
      summary: "End a team's access to a repository",
      scopes: ['write:org'],
      answers: { 204: Nothing },
    },
    async ({ db, org, team, repo }) => {
      if (team.role !== 'maintainer' && org.role !== 'admin') checkAccess(repo.access, 'admin')
      await removeTeamAccess(db, team, repo)
    },
  ),
  get(
    '/user/teams',
    {
      operation: 'teams/list-for-authenticated-user',
      permission: 'classic',
      summary: "List the caller's teams in all organizations",
      scopes: ['read:org', 'repo', 'user'],
      list: true,
      answers: { 200: Type.Array(FullTeam) },
    },
    async ({ db, viewer, page, wire }) => {
      const teams = await listTeamsOf(db, viewer, page)
      // A user's teams belong to few organizations, so each organization is read once.
      const logins = [...new Set(teams.rows.map((team) => team.org_login))]
      const orgs = await Promise.all(logins.map((login) => loadOrganization(db, viewer.id, login)))
      const bodies = await Promise.all(orgs.map(async (org) => organizationJson(org, await countStanding(db, org), wire)))
      const byId = new Map(orgs.map((org, index) => [org.id, bodies[index]]))
      return paged(teams, (team) => {
        const organization = byId.get(team.org_id)
        if (!organization) throw missing()
        return fullTeamJson(team, organization, wire)
      })
    },
  ),
  get(
    '/repos/{owner}/{repo}/teams',
    {
      operation: 'repos/list-teams',
      permission: 'administration:read',
      summary: 'List the teams with access to a repository, for its admins',
      scopes: ['repo'],
      access: 'admin',
      list: true,
      answers: { 200: Type.Array(TeamSchema) },
    },
    async ({ db, repo, viewer, page, wire }) => {
      if (repo.owner_type !== 'Organization') return []
      const org = await loadOrganization(db, viewer.id, repo.owner_login)
      return paged(await listTeamsWith(db, viewer.id, org, repo, page), (row) => teamJson(row, wire, row.access))
    },
  ),
])
