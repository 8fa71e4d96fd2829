import { Answer, get, group } from '#http/endpoint.ts'
import { Type } from '#platform/schema.ts'

/** Belfry has no downloads, but the documented records must name the address of such a list. Clients follow it. */
const nothing = {
  permission: 'any',
  viewer: 'optional',
  list: true,
  answers: { 200: Type.Array(Type.Object({})) },
} as const
const none = () => new Answer([], { total: 0 })

export const api = group('Lists that are always empty', [
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
