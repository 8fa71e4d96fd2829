import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Answer, del, get, group, listOf, paged, put } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { convertMember, listOutsideCollaborators, removeOutsideCollaborator } from './outside-collaborators.ts'

const writing = { permission: 'members:write', scopes: ['admin:org'], org_role: 'owner' } as const

export const api = group('Outside collaborators', [
  get(
    '/orgs/{org}/outside_collaborators',
    {
      operation: 'orgs/list-outside-collaborators',
      permission: 'members:read',
      summary: 'List users who collaborate on repositories of the organization and are no members, for owners',
      scopes: ['read:org'],
      org_role: 'owner',
      query: { filter: choice('all', '2fa_disabled', '2fa_insecure') },
      ...listOf(SimpleUser),
    },
    async ({ db, org, query, page, wire }) =>
      paged(await listOutsideCollaborators(db, org, query.filter, page), (row) => userJson(row, wire)),
  ),
  put(
    '/orgs/{org}/outside_collaborators/{username}',
    {
      ...writing,
      operation: 'orgs/convert-member-to-outside-collaborator',
      summary: 'Convert a member to an outside collaborator, who keeps the access that teams gave',
      body: Type.Object({ async: Type.Optional(Type.Boolean()) }),
      answers: { 204: Nothing, 202: Type.Object({}) },
    },
    async ({ db, org, user, viewer, body }) => {
      await convertMember(db, viewer, org, user)
      return body.async ? new Answer({}, { status: 202 }) : new Answer(undefined, { status: 204 })
    },
  ),
  del(
    '/orgs/{org}/outside_collaborators/{username}',
    {
      ...writing,
      operation: 'orgs/remove-outside-collaborator',
      summary: 'Remove an outside collaborator from all repositories of the organization',
      refuses: ['invalid'],
      answers: { 204: Nothing },
    },
    ({ db, org, user, viewer }) => removeOutsideCollaborator(db, viewer, org, user),
  ),
])
