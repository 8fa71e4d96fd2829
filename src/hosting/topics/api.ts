import { get, group, put } from '#http/endpoint.ts'
import { Type } from '#platform/schema.ts'
import { replaceTopics } from './topics.ts'

const Topics = Type.Object({ names: Type.Array(Type.String()) }, { title: 'Topic' })

export const api = group('Topics', [
  get(
    '/repos/{owner}/{repo}/topics',
    {
      operation: 'repos/get-all-topics',
      permission: 'metadata:read',
      summary: 'Get the topics of a repository',
      viewer: 'optional',
      optional_scopes: ['repo'],
      answers: { 200: Topics },
    },
    // A repository has few topics, so one page has them all.
    ({ repo }) => ({ names: repo.topics }),
  ),
  put(
    '/repos/{owner}/{repo}/topics',
    {
      operation: 'repos/replace-all-topics',
      permission: 'administration:write',
      summary: 'Replace the topics of a repository',
      scopes: ['public_repo', 'repo'],
      access: 'maintain',
      writable: true,
      body: Type.Object({ names: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }) }),
      answers: { 200: Topics },
    },
    async ({ db, caller, viewer, repo, body }) => ({ names: await replaceTopics(db, caller, viewer, repo, body.names) }),
  ),
])
