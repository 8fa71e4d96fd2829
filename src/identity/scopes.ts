/** What a token may be allowed to do. A parent holds its children: who has `repo` has `public_repo`. */
const tree = {
  repo: ['repo:status', 'repo_deployment', 'public_repo', 'repo:invite', 'security_events'],
  'admin:repo_hook': ['write:repo_hook'],
  'write:repo_hook': ['read:repo_hook'],
  'admin:org': ['write:org'],
  'write:org': ['read:org'],
  'admin:public_key': ['write:public_key'],
  'write:public_key': ['read:public_key'],
  'admin:gpg_key': ['write:gpg_key'],
  'write:gpg_key': ['read:gpg_key'],
  user: ['read:user', 'user:email', 'user:follow'],
  project: ['read:project'],
  'admin:enterprise': ['manage_runners:enterprise', 'manage_billing:enterprise', 'read:enterprise'],
  'admin:org_hook': [],
  gist: [],
  notifications: [],
  delete_repo: [],
  'write:packages': [],
  'read:packages': [],
  'delete:packages': [],
  workflow: [],
  site_admin: [],
} as const

type Parent = keyof typeof tree
export type Scope = Parent | (typeof tree)[Parent][number]

const childrenOf = new Map<string, readonly string[]>(Object.entries(tree))
const known = new Set<string>([...childrenOf.keys(), ...[...childrenOf.values()].flat()])

/** As people choose from them: each below the one that holds it. */
export const scopeTree: { name: string; depth: number }[] = []
const addBranch = (name: string, depth: number) => {
  scopeTree.push({ name, depth })
  for (const child of childrenOf.get(name) ?? []) addBranch(child, depth + 1)
}
const inner = new Set([...childrenOf.values()].flat())
for (const name of childrenOf.keys()) if (!inner.has(name)) addBranch(name, 0)

/**
 * Whether an endpoint asks for it, or the spec names it. The others are accepted, kept and shown, because clients of the public interface
 * send them; no page offers them.
 */
export const isServed = (name: string) =>
  !/(packages|gpg_key|enterprise|project)$|^(repo:status|repo_deployment|security_events|workflow|user:email)$/.test(name)

export function isScope(name: string): name is Scope {
  return known.has(name)
}

/** The scopes with everything they hold. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>()
  const add = (scope: string) => {
    all.add(scope)
    childrenOf.get(scope)?.forEach(add)
  }
  scopes.forEach(add)
  return all
}

/** As they are stored and shown: sorted, each once, and none that another one holds. */
export function normaliseScopes(scopes: readonly string[]): string[] {
  const held = new Set(scopes.flatMap((scope) => [...expandScopes([scope])].filter((inner) => inner !== scope)))
  return [...new Set(scopes)].filter((scope) => !held.has(scope)).sort()
}

/** Every scope there is, as few as they can be named. */
export const allScopes = normaliseScopes([...known])
