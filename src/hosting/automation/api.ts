import { get, group, put } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { setAutomation } from './automation.ts'

const path = '/repos/{owner}/{repo}/actions/permissions'

export const api = group('Automation', [
  get(
    path,
    {
      operation: 'actions/get-github-actions-permissions-repository',
      permission: 'administration:read',
      summary: 'Get whether a repository has automation; imports into it are refused then',
      scopes: ['repo'],
      access: 'admin',
      answers: { 200: Type.Object({ enabled: Type.Boolean() }, { title: 'AutomationPermissions' }) },
    },
    ({ repo }) => ({ enabled: repo.automation }),
  ),
  put(
    path,
    {
      operation: 'actions/set-github-actions-permissions-repository',
      permission: 'administration:write',
      summary: 'Set whether a repository has automation',
      scopes: ['repo'],
      access: 'admin',
      writable: true,
      body: Type.Object({ enabled: Type.Boolean() }),
      answers: { 204: Nothing },
    },
    ({ db, repo, body }) => setAutomation(db, repo, body.enabled),
  ),
])
