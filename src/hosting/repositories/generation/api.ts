import { created, group, post } from '#http/endpoint.ts'
import { checkResourceOwner } from '#http/permissions.ts'
import { Type } from '#platform/schema.ts'
import { checkScope, whole } from '../api.ts'
import { FullRepository } from '../json.ts'
import { loadReceiver } from '../receiver.ts'
import { generateRepository } from './generate.ts'

export const api = group('Repositories', [
  post(
    '/repos/{owner}/{repo}/generate',
    {
      operation: 'repos/create-using-template',
      permission: 'administration:write',
      summary: 'Create a repository with the files of a template; a background job copies them',
      scopes: ['public_repo', 'repo'],
      body: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 100 }),
        owner: Type.Optional(Type.String()),
        description: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 350 })),
        include_all_branches: Type.Optional(Type.Boolean()),
        private: Type.Optional(Type.Boolean()),
      }),
      answers: { 201: FullRepository },
    },
    async ({ db, caller, viewer, repo, body, wire }) => {
      checkScope(caller.may, body)
      const { owner: login, include_all_branches: all_branches = false, ...wanted } = body
      const owner = login ? await loadReceiver(db, viewer, login) : viewer
      checkResourceOwner(caller, owner)
      const made = await generateRepository(db, caller, repo, viewer, owner, { ...wanted, all_branches })
      return created(await whole(db, caller, made, wire))
    },
  ),
])
