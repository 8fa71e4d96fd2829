/** What a node may do. `web` is pages and feeds, `git` is git and Git LFS, `api` both variants of the API, `worker` background jobs. */
export const nodeRoles = ['web', 'git', 'api', 'worker'] as const
export type NodeRole = (typeof nodeRoles)[number]

/** Whether a node with these roles answers requests. */
export const servesRequests = (roles: readonly NodeRole[]) => roles.some((role) => role !== 'worker')
