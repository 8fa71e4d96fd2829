import { organizationJson } from '#hosting/organizations/json.ts'
import { loadOrganization, type Organization } from '#hosting/organizations/organizations.ts'
import { countStanding } from '#hosting/people/people.ts'
import { Answer, created, del, get, group, listOf, paged, patch, post, put } from '#http/endpoint.ts'
import { Nothing, NullableString, type Wire } from '#http/serialization.ts'
import { accessNames, checkAccess, levelOf } from '#identity/access.ts'
import type { Queryable } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { createTeam } from './create.ts'
import { FullTeam, fullTeamJson, TeamRepository, TeamSchema, teamJson, teamRepositoryJson } from './json.ts'
import {
  checkMaintainer,
  findTeamAccess,
  listTeamRepositories,
  listTeams,
  listTeamsOf,
  listTeamsWith,
  type Privacy,
  removeTeamAccess,
  setTeamAccess,
  type Team,
} from './teams.ts'
import { deleteTeam, updateTeam } from './update.ts'

const reading = { permission: 'members:read', scopes: ['read:org'] } as const
const writing = { permission: 'members:write', scopes: ['write:org'] } as const
const PrivacyName = Type.Unsafe<Privacy>({ type: 'string', enum: ['closed', 'secret'] })

const options = {
  description: Type.Optional(NullableString),
  privacy: Type.Optional(PrivacyName),
  permission: Type.Optional(Type.Unsafe<'pull' | 'push' | 'admin'>({ type: 'string', enum: ['pull', 'push', 'admin'] })),
  parent_team_id: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'] })),
}

/** Teams are not nested: a parent would have to give its members access to the child's repositories. */
function wanted<Body extends { permission?: string; parent_team_id?: number | null }>(body: Body) {
  const { permission, parent_team_id, ...rest } = body
  if (parent_team_id) {
    throw invalid({ resource: 'Team', code: 'invalid', field: 'parent_team_id', message: 'Nested teams are not supported.' })
  }
  return { ...rest, ...(permission && { access: levelOf(permission) }) }
}

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
        ...options,
        name: Type.String({ minLength: 1, maxLength: 100 }),
        maintainers: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
        repo_names: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
      }),
      answers: { 201: FullTeam },
    },
    async ({ db, org, caller, viewer, body, wire }) =>
      created(await whole(db, org, await createTeam(db, caller, org, viewer, wanted(body)), wire)),
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
      body: Type.Object({ ...options, name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })) }),
      answers: { 200: FullTeam },
    },
    async ({ db, org, team, viewer, body, wire }) => {
      checkMaintainer(org, team)
      return whole(db, org, await updateTeam(db, viewer, org, team, wanted(body)), wire)
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
    ({ db, org, team, viewer }) => {
      checkMaintainer(org, team)
      return deleteTeam(db, viewer, team)
    },
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/repos',
    {
      ...reading,
      operation: 'teams/list-repos-in-org',
      summary: 'List the repositories of a team',
      ...listOf(TeamRepository),
    },
    async ({ db, caller, team, page, wire }) =>
      paged(await listTeamRepositories(db, caller, team, page), (row) => teamRepositoryJson(row, row.team_access, wire)),
  ),
  get(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      ...reading,
      operation: 'teams/check-permissions-for-repo-in-org',
      summary: 'Check whether a team has access to a repository: 204 (200 with the repository media type) or 404',
      answers: { 204: Nothing, 200: TeamRepository },
    },
    async ({ db, team, repo, dialect, wire }) => {
      const access = await findTeamAccess(db, team, repo)
      if (access === undefined) throw missing()
      if (!dialect.media.has('repository')) return new Answer(undefined, { status: 204 })
      return new Answer(teamRepositoryJson(repo, access, wire), { status: 200 })
    },
  ),
  put(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      ...writing,
      operation: 'teams/add-or-update-repo-permissions-in-org',
      summary: 'Give a team access to a repository, by default with the `permission` of the team',
      access: 'admin',
      body: Type.Object({ permission: Type.Optional(Type.String({ enum: accessNames })) }),
      answers: { 204: Nothing },
    },
    ({ db, team, repo, viewer, body }) =>
      setTeamAccess(db, viewer, team, repo, body.permission ? levelOf(body.permission) : team.access),
  ),
  del(
    '/orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}',
    {
      ...writing,
      operation: 'teams/remove-repo-in-org',
      summary: "End a team's access to a repository",
      answers: { 204: Nothing },
    },
    async ({ db, org, team, repo, viewer }) => {
      if (team.role !== 'maintainer' && org.role !== 'admin') checkAccess(repo.access, 'admin')
      await removeTeamAccess(db, viewer, team, repo)
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
