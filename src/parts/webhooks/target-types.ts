import { OrganizationHook, RepositoryHook } from './json.ts'

/** What may have hooks: where its endpoints are, what they are called by, and what they ask of a token. */
export const targetTypes = {
  repository: {
    prefix: '/repos/{owner}/{repo}',
    names: 'repos',
    short: 'repo',
    of: 'a repository',
    schema: RepositoryHook,
    // What these scopes are for is the hooks, also those of private repositories, and nothing else of them.
    reads: { permission: 'webhooks:read', scopes: ['read:repo_hook', 'repo'], sees_private: true },
    writes: { permission: 'webhooks:write', scopes: ['repo', 'write:repo_hook'], sees_private: true },
    deletes: { permission: 'webhooks:write', scopes: ['repo', 'write:repo_hook'], sees_private: true },
  },
  organization: {
    prefix: '/orgs/{org}',
    names: 'orgs',
    short: 'org',
    of: 'an organization',
    schema: OrganizationHook,
    reads: { permission: 'organization_hooks:read', scopes: ['admin:org_hook'] },
    writes: { permission: 'organization_hooks:write', scopes: ['admin:org_hook'] },
    deletes: { permission: 'organization_hooks:write', scopes: ['admin:org_hook'] },
  },
} as const

export type TargetType = (typeof targetTypes)[keyof typeof targetTypes]
