import { FullOrganization } from '#hosting/organizations/json.ts'
import { RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { nameOf, permissionsOf, roleOf } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Team, TeamRole } from './teams.ts'

const team = {
  id: Type.Integer(),
  node_id: Type.String(),
  url: Type.String(),
  html_url: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  description: NullableString,
  privacy: Type.String(),
  notification_setting: Type.String(),
  permission: Type.String(),
  members_url: Type.String(),
  repositories_url: Type.String(),
  type: Type.String(),
  parent: Type.Null(),
}

export const TeamSchema = Type.Object(team, { title: 'Team' })

export type ShownTeam = Pick<Team, 'id' | 'org_login' | 'name' | 'slug' | 'description' | 'privacy'>

/** `access` is the team's access to the repository that the team is listed for. */
export function teamJson(row: ShownTeam, { api, web }: Wire, access = 1): Static<typeof TeamSchema> {
  const url = `${api}/orgs/${row.org_login}/teams/${row.slug}`
  return {
    id: row.id,
    node_id: nodeId('Team', row.id),
    url,
    html_url: `${web}/orgs/${row.org_login}/teams/${row.slug}`,
    name: row.name,
    slug: row.slug,
    description: row.description,
    privacy: row.privacy,
    notification_setting: 'notifications_enabled',
    permission: nameOf(access),
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    type: 'organization',
    parent: null,
  }
}

export const FullTeam = Type.Object(
  {
    ...team,
    members_count: Type.Integer(),
    repos_count: Type.Integer(),
    organization: FullOrganization,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'FullTeam' },
)

export function fullTeamJson(row: Team, organization: Static<typeof FullOrganization>, wire: Wire): Static<typeof FullTeam> {
  return {
    ...teamJson(row, wire, row.access),
    members_count: row.members_count,
    repos_count: row.repos_count,
    organization,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

export const TeamRepository = Type.Object(
  { ...RepositorySchema.properties, role_name: Type.String() },
  { title: 'TeamRepository' },
)

/** The permissions are those of the team, not of the caller. */
export function teamRepositoryJson(repo: Repository, access: number, wire: Wire): Static<typeof TeamRepository> {
  return { ...repositoryJson(repo, wire, true), permissions: permissionsOf(access), role_name: roleOf(access) }
}

export const TeamMembership = Type.Object(
  { url: Type.String(), role: Type.String(), state: Type.String() },
  { title: 'TeamMembership' },
)

export function teamMembershipJson(row: Team, user: Account, role: TeamRole, { api }: Wire): Static<typeof TeamMembership> {
  return { url: `${api}/orgs/${row.org_login}/teams/${row.slug}/memberships/${user.login}`, role, state: 'active' }
}
