import { Answer, get, group } from '#http/endpoint.ts'
import { Type } from '#platform/schema.ts'

/** Belfry has no gists and no downloads, but the documented records must name the addresses of such lists. Clients follow them. */
const nothing = {
  permission: 'any',
  viewer: 'optional',
  list: true,
  answers: { 200: Type.Array(Type.Object({})) },
} as const
const none = () => new Answer([], { total: 0 })

export const api = group('Lists that are always empty', [
  get('/gists', { ...nothing, operation: 'gists/list', summary: 'List gists: there are none' }, none),
  get('/gists/public', { ...nothing, operation: 'gists/list-public', summary: 'List public gists: there are none' }, none),
  get('/gists/starred', { ...nothing, operation: 'gists/list-starred', summary: 'List starred gists: there are none' }, none),
  get(
    '/users/{username}/gists',
    { ...nothing, operation: 'gists/list-for-user', summary: 'List the gists of a user: there are none' },
    none,
  ),
  get(
    '/repos/{owner}/{repo}/downloads',
    {
      ...nothing,
      permission: 'metadata:read',
      operation: 'repos/list-downloads',
      summary: 'List downloads: there are none, see release assets',
    },
    none,
  ),
])
