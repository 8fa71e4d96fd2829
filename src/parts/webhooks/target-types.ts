import type { Endpoint } from '#http/endpoint.ts'
import { OrganizationHook, RepositoryHook } from './json.ts'

/** For each type of target: the path and operation names of its endpoints, and the scopes and permissions that they require. */
export const targetTypes = {
  repository: {
    prefix: '/repos/{owner}/{repo}',
    names: 'repos',
    short: 'repo',
    of: 'a repository',
    schema: RepositoryHook,
    // These scopes give access to the hooks of private repositories, and to nothing else in them.
    reads: { permission: 'webhooks:read', scopes: ['read:repo_hook', 'repo'], sees_private: true },
    writes: { permission: 'webhooks:write', scopes: ['repo', 'write:repo_hook'], sees_private: true },
  },
  organization: {
    prefix: '/orgs/{org}',
    names: 'orgs',
    short: 'org',
    of: 'an organization',
    schema: OrganizationHook,
    reads: { permission: 'organization_hooks:read', scopes: ['admin:org_hook'] },
    writes: { permission: 'organization_hooks:write', scopes: ['admin:org_hook'] },
  },
} as const

export type TargetType = (typeof targetTypes)[keyof typeof targetTypes]

/** Repositories and organizations have the same endpoints. */
export const ofEachTarget = (endpointsOf: (kind: TargetType) => Endpoint[]) => Object.values(targetTypes).flatMap(endpointsOf)
