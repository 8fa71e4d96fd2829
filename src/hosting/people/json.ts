import { Address, NullableBoolean, NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Standing } from './people.ts'

const person = {
  login: Type.String(),
  id: Type.Integer(),
  node_id: Type.String(),
  avatar_url: Address,
  gravatar_id: Type.String(),
  url: Address,
  html_url: Address,
  followers_url: Address,
  following_url: Address,
  gists_url: Address,
  starred_url: Address,
  subscriptions_url: Address,
  organizations_url: Address,
  repos_url: Address,
  events_url: Address,
  received_events_url: Address,
  type: Type.String(),
  site_admin: Type.Boolean(),
}

export const SimpleUser = Type.Object(person, { title: 'SimpleUser' })

export function userJson(user: Person, { api, web }: Wire): Static<typeof SimpleUser> {
  const { login, slug } = user.type === 'Bot' ? botNames(user) : { login: user.login, slug: undefined }
  const url = `${api}/users/${login}`
  return {
    login: user.login,
    id: user.id,
    node_id: nodeId(user.type, user.id),
    avatar_url: `${web}/avatars/${user.id}`,
    gravatar_id: '',
    url,
    html_url: slug ? `${web}/apps/${slug}` : `${web}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: user.type,
    site_admin: user.site_admin,
  }
}

/** The brackets of a bot's login are escaped in addresses. Its page is that of its app. */
const botNames = ({ login }: Person) => ({ login: encodeURIComponent(login), slug: login.replace(/\[bot\]$/, '') })

const profile = {
  ...person,
  name: NullableString,
  company: NullableString,
  blog: NullableString,
  location: NullableString,
  email: NullableString,
  hireable: NullableBoolean,
  bio: NullableString,
  twitter_username: NullableString,
  public_repos: Type.Integer(),
  public_gists: Type.Integer(),
  followers: Type.Integer(),
  following: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const PublicUser = Type.Object(profile, { title: 'PublicUser' })

export function publicUserJson(user: Account, counts: Standing, wire: Wire): Static<typeof PublicUser> {
  return {
    ...userJson(user, wire),
    name: user.name,
    company: user.company,
    blog: user.blog ?? '',
    location: user.location,
    email: user.email_public ? user.email : null,
    hireable: user.hireable,
    bio: user.bio,
    twitter_username: user.twitter_username,
    public_repos: counts.public_repos,
    public_gists: 0,
    followers: counts.followers,
    following: counts.following,
    created_at: timestamp(user.created_at),
    updated_at: timestamp(user.updated_at),
  }
}

/** Fields that only the user sees, and only with the user scope. */
const own = {
  private_gists: Type.Integer(),
  total_private_repos: Type.Integer(),
  owned_private_repos: Type.Integer(),
  disk_usage: Type.Integer(),
  collaborators: Type.Integer(),
  two_factor_authentication: Type.Boolean(),
  plan: Type.Object({
    name: Type.String(),
    space: Type.Integer(),
    private_repos: Type.Integer(),
    collaborators: Type.Integer(),
  }),
}

export const AuthenticatedUser = Type.Object(
  { ...profile, ...Type.Partial(Type.Object(own)).properties },
  { title: 'AuthenticatedUser' },
)

export function ownUserJson(user: Account, counts: Standing, wire: Wire): Static<typeof AuthenticatedUser> {
  return {
    ...publicUserJson(user, counts, wire),
    email: user.email,
    private_gists: 0,
    total_private_repos: counts.private_repos,
    owned_private_repos: counts.private_repos,
    disk_usage: 0,
    collaborators: 0,
    two_factor_authentication: false,
    plan: { name: 'self-hosted', space: 0, private_repos: 0, collaborators: 0 },
  }
}
