/** The scopes of classic and OAuth tokens. A scope includes its children: `repo` includes `public_repo`. */
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

/** In the order of the settings page: each scope below the one that includes it. */
export const scopeTree: { name: string; depth: number }[] = []
const addBranch = (name: string, depth: number) => {
  scopeTree.push({ name, depth })
  for (const child of childrenOf.get(name) ?? []) addBranch(child, depth + 1)
}
const inner = new Set([...childrenOf.values()].flat())
for (const name of childrenOf.keys()) if (!inner.has(name)) addBranch(name, 0)

/**
 * Whether an endpoint needs the scope, or the spec names it. We accept, store and show the others, because clients of the public API
 * send them, but no page offers them.
 */
export const isServed = (name: string) => !/(packages|gpg_key|enterprise|project)$|^(security_events|workflow)$/.test(name)

export function isScope(name: string): name is Scope {
  return known.has(name)
}

/** The scopes and all scopes that they include. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>()
  const add = (scope: string) => {
    all.add(scope)
    childrenOf.get(scope)?.forEach(add)
  }
  scopes.forEach(add)
  return all
}

/** Scopes are stored and shown sorted, without duplicates and without those that another scope includes. */
export function normaliseScopes(scopes: readonly string[]): string[] {
  const held = new Set(scopes.flatMap((scope) => [...expandScopes([scope])].filter((inner) => inner !== scope)))
  return [...new Set(scopes)].filter((scope) => !held.has(scope)).sort()
}

/** The shortest list that includes every scope. */
export const allScopes = normaliseScopes([...known])
