import { levelOf } from './access.ts'

/** The permissions of fine-grained tokens, by what they apply to. `write` includes `read`. */
export const permissionNames = {
  repository: [
    'administration',
    'checks',
    'contents',
    'deployments',
    'issues',
    'metadata',
    'pull_requests',
    'statuses',
    'webhooks',
  ],
  organization: ['members', 'organization_administration', 'organization_events', 'organization_hooks'],
  account: ['email_addresses', 'events', 'followers', 'git_ssh_keys', 'invitations', 'profile', 'starring', 'watching'],
} as const

export type Over = keyof typeof permissionNames
type Name = (typeof permissionNames)[keyof typeof permissionNames][number]
export type Level = 'read' | 'write'

/**
 * What an endpoint requires of a fine-grained token: a permission at a level. `any`: no permission, for public data and the user's own
 * name. `classic`: fine-grained tokens are refused.
 */
export type Permission = `${Name}:${Level}` | 'any' | 'classic'

export type Permissions = Partial<Record<Name, Level>>

const known = new Set<string>(Object.values(permissionNames).flat())

export function isPermission(name: string): name is Name {
  return known.has(name)
}

/** What a permission applies to; undefined for `any` and `classic`. */
export function overOf(asked: Permission): Over | undefined {
  const [name = ''] = asked.split(':')
  return (Object.keys(permissionNames) as Over[]).find((over) => (permissionNames[over] as readonly string[]).includes(name))
}

/**
 * The permissions of an app that Belfry stores and shows although no endpoint needs them, because the public documentation has them and
 * manifests name them.
 */
const unusedNames = `actions artifact_metadata attestations code_quality codespaces dependabot_secrets discussions environments
  merge_queues packages pages repository_custom_properties repository_projects secret_scanning_alerts secrets security_events single_file
  vulnerability_alerts workflows custom_properties_for_organizations organization_custom_roles organization_custom_org_roles
  organization_custom_properties organization_copilot_seat_management organization_copilot_agent_settings organization_announcement_banners
  organization_personal_access_tokens organization_personal_access_token_requests organization_plan organization_projects organization_packages
  organization_secrets organization_self_hosted_runners organization_user_blocking gpg_keys interaction_limits
  enterprise_custom_properties_for_organizations`.split(/\s+/)

/** The name that apps use for `webhooks`. */
const hooks = 'repository_hooks'

const ofApps = new Set([...known, ...unusedNames, hooks])

export function isAppPermission(name: string) {
  return ofApps.has(name)
}

export type AppPermissions = Record<string, 'read' | 'write' | 'admin'>

const appLevels = ['read', 'write', 'admin']

/** Whether one level includes another. Undefined is none. */
export const includesLevel = (held: string | undefined, asked: string) =>
  appLevels.includes(asked) && appLevels.indexOf(asked) <= appLevels.indexOf(held ?? '')

/** The permissions that are in both, each at the lower level. */
export function lowerPermissions(one: AppPermissions, other: AppPermissions): AppPermissions {
  return Object.fromEntries(
    Object.entries(one).flatMap(([name, level]) => {
      const limit = other[name]
      return limit ? [[name, includesLevel(limit, level) ? level : limit]] : []
    }),
  )
}

/** What reading metadata includes, for the pages on which users grant it. */
export const metadataIncludes =
  'Metadata includes the event timelines of the repositories: titles and texts of issues and pull requests, and commit messages.'

/** An app that has any permission may read the metadata of its repositories. */
export function permissionsOfApp(given: object | null): Permissions {
  const { [hooks]: webhooks, ...held } = (given ?? {}) as AppPermissions
  const usable = Object.entries({ ...held, ...(webhooks && { webhooks }) }).filter(([name]) => known.has(name))
  return { metadata: 'read', ...(Object.fromEntries(usable) as Permissions) }
}

/**
 * The level of access that an installation has in its repositories. Its permission decides whether it may call an endpoint; the level
 * decides about details, such as whether it may edit the text of another author.
 */
export function accessByPermissions(held: Permissions): number {
  const writes = permissionNames.repository.filter((name) => held[name] === 'write')
  return levelOf(writes.includes('administration') ? 'admin' : writes.length ? 'push' : 'pull')
}

export function allows(held: Permissions, asked: Permission): boolean {
  if (asked === 'any') return true
  if (asked === 'classic') return false
  const [name, level] = asked.split(':') as [Name, Level]
  return held[name] === 'write' || held[name] === level
}
