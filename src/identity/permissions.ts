/** What a fine-grained token can be given, by what it is over; `write` holds `read`. */
export const permissionNames = {
  repository: ['administration', 'contents', 'issues', 'metadata', 'pull_requests', 'webhooks'],
  organization: ['members', 'organization_administration', 'organization_events', 'organization_hooks'],
  account: ['email_addresses', 'events', 'followers', 'git_ssh_keys', 'invitations', 'profile', 'starring', 'watching'],
} as const

export type Over = keyof typeof permissionNames
type Name = (typeof permissionNames)[keyof typeof permissionNames][number]
export type Level = 'read' | 'write'

/**
 * What an endpoint asks of a fine-grained token: a permission at a level; `any`: being one is enough, for what is public or the user's
 * own name; `classic`: such tokens have no business there.
 */
export type Permission = `${Name}:${Level}` | 'any' | 'classic'

/** A token's permissions, as they are stored. */
export type Permissions = Partial<Record<Name, Level>>

const known = new Set<string>(Object.values(permissionNames).flat())

export function isPermission(name: string): name is Name {
  return known.has(name)
}

/** What an endpoint's permission is over; undefined where it asks for none. */
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
