import { organizationJson } from '#hosting/organizations/json.ts'
import { loadOrganization, type Organization } from '#hosting/organizations/organizations.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { countStanding } from '#hosting/people/people.ts'
import { RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import { Answer, created, del, get, group, listOf, paged, patch, post, put } from '#http/endpoint.ts'
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

const reading = { permission: 'members:read', scopes: ['read:org'] } as const
const writing = { permission: 'members:write', scopes: ['write:org'] } as const
const PrivacyName = Type.Unsafe<Privacy>({ type: 'string', enum: ['closed', 'secret'] })

async function whole(db: Queryable, org: Organization, team: Team, wire: Wire) {
  return fullTeamJson(team, organizationJson(org, await countStanding(db, org), wire), wire)
}

export const api = group('Teams', [
  get(
    '/orgs/{org}/teams',
    {
      ...reading,
      operation: 'teams/list',
      summary: 'List the teams of an organization, for its members',
      org_role: 'member',
      ...listOf(TeamSchema),
    },
    async ({ db, org, viewer, page, wire }) => paged(await listTeams(db, viewer.id, org, page), (row) => teamJson(row, wire)),
  ),
  post(
    '/orgs/{org}/teams',
    {
      ...writing,
      operation: 'teams/create',
      summary: 'Create a team; the caller becomes its first maintainer',
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
      ...reading,
      operation: 'teams/get-by-name',
      summary: 'Get a team',
      answers: { 200: FullTeam },
    },
    ({ db, org, team, wire }) => whole(db, org, team, wire),
  ),
  patch(
    '/orgs/{org}/teams/{team_slug}',
    {
      ...writing,
      operation: 'teams/update-in-org',
      summary: 'Change a team; its slug follows its name',
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
      ...writing,
      operation: 'teams/delete-in-org',
      summary: 'Delete a team',
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
      ...writing,
      operation: 'teams/remove-membership-for-user-in-org',
      summary: 'Remove a user from a team, or leave it',
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
      ...reading,
      operation: 'teams/list-repos-in-org',
      summary: 'List the repositories of a team',
      ...listOf(RepositorySchema),
    },
    async ({ db, caller, team, page, wire }) =>
      paged(await listTeamRepositories(db, caller, team, page), (row) => repositoryJson(row, wire, true)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      ...reading,
      operation: 'teams/check-permissions-for-repo-in-org',
      summary: 'Check whether a team has access to a repository: 204 (200 with the repository media type) or 404',
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
      ...writing,
      operation: 'teams/add-or-update-repo-permissions-in-org',
      summary: 'Give a team access to a repository, `pull` by default',
      access: 'admin',
      body: Type.Object({ permission: Type.Optional(Type.String({ enum: accessNames })) }),
      answers: { 204: Nothing },
    },
    ({ db, team, repo, body }) => setTeamAccess(db, team, repo, levelOf(body.permission ?? 'pull')),
  ),
  del(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      ...writing,
      operation: 'teams/remove-repo-in-org',
      summary: "End a team's access to a repository",
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
      ...listOf(FullTeam),
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
      ...listOf(TeamSchema),
    },
    async ({ db, repo, viewer, page, wire }) => {
      if (repo.owner_type !== 'Organization') return []
      const org = await loadOrganization(db, viewer.id, repo.owner_login)
      return paged(await listTeamsWith(db, viewer.id, org, repo, page), (row) => teamJson(row, wire, row.access))
    },
  ),
])
