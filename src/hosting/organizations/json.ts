import { SimpleUser, userJson } from '#hosting/people/json.ts'
import type { Standing } from '#hosting/people/people.ts'
import { NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { permissionOf } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Membership, OrganizationRole } from './organizations.ts'

const simple = {
  login: Type.String(),
  id: Type.Integer(),
  node_id: Type.String(),
  url: Type.String(),
  repos_url: Type.String(),
  events_url: Type.String(),
  hooks_url: Type.String(),
  issues_url: Type.String(),
  members_url: Type.String(),
  public_members_url: Type.String(),
  avatar_url: Type.String(),
  description: NullableString,
}

export const SimpleOrganization = Type.Object(simple, { title: 'SimpleOrganization' })

export function simpleOrganizationJson(
  org: Pick<Account, 'id' | 'login' | 'bio'>,
  { api, web }: Wire,
): Static<typeof SimpleOrganization> {
  const url = `${api}/orgs/${org.login}`
  return {
    login: org.login,
    id: org.id,
    node_id: nodeId('Organization', org.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${web}/avatars/${org.id}`,
    description: org.bio,
  }
}

export const FullOrganization = Type.Object(
  {
    ...simple,
    name: NullableString,
    company: NullableString,
    blog: NullableString,
    location: NullableString,
    email: NullableString,
    twitter_username: NullableString,
    is_verified: Type.Boolean(),
    has_organization_projects: Type.Boolean(),
    has_repository_projects: Type.Boolean(),
    public_repos: Type.Integer(),
    public_gists: Type.Integer(),
    followers: Type.Integer(),
    following: Type.Integer(),
    html_url: Type.String(),
    type: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Type.Null(),
    /** Only members see the fields below. */
    total_private_repos: Type.Optional(Type.Integer()),
    owned_private_repos: Type.Optional(Type.Integer()),
    default_repository_permission: Type.Optional(Type.String()),
    members_can_create_repositories: Type.Optional(Type.Boolean()),
    members_can_fork_private_repositories: Type.Optional(Type.Boolean()),
  },
  { title: 'Organization' },
)

export function organizationJson(
  org: Account & { role: OrganizationRole | null },
  counts: Standing,
  wire: Wire,
): Static<typeof FullOrganization> {
  return {
    ...simpleOrganizationJson(org, wire),
    name: org.name,
    company: org.company,
    blog: org.blog,
    location: org.location,
    email: org.email,
    twitter_username: org.twitter_username,
    is_verified: false,
    has_organization_projects: false,
    has_repository_projects: false,
    public_repos: counts.public_repos,
    public_gists: 0,
    followers: counts.followers,
    following: counts.following,
    html_url: `${wire.web}/${org.login}`,
    type: 'Organization',
    created_at: timestamp(org.created_at),
    updated_at: timestamp(org.updated_at),
    archived_at: null,
    ...(org.role && {
      total_private_repos: counts.private_repos,
      owned_private_repos: counts.private_repos,
      default_repository_permission: permissionOf(org.member_access),
      members_can_create_repositories: true,
      members_can_fork_private_repositories: org.members_can_fork_private_repositories,
    }),
  }
}

export const OrganizationMembership = Type.Object(
  {
    url: Type.String(),
    state: Type.String(),
    role: Type.String(),
    organization_url: Type.String(),
    organization: SimpleOrganization,
    user: SimpleUser,
  },
  { title: 'OrganizationMembership' },
)

export function membershipJson(
  { org, user, role, state = 'active' }: Membership,
  wire: Wire,
): Static<typeof OrganizationMembership> {
  const organization = simpleOrganizationJson(org, wire)
  return {
    url: `${organization.url}/memberships/${user.login}`,
    state,
    role,
    organization_url: organization.url,
    organization,
    user: userJson(user, wire),
  }
}
