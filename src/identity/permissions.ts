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

export function allows(held: Permissions, asked: Permission): boolean {
  if (asked === 'any') return true
  if (asked === 'classic') return false
  const [name, level] = asked.split(':') as [Name, Level]
  return held[name] === 'write' || held[name] === level
}
