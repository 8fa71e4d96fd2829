import { del, group, patch, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { loadAccount } from '#identity/accounts.ts'
import type { Application } from '#identity/clients.ts'
import { Authorization, authorizationJson } from '#parts/authentication/json.ts'
import type { Queryable } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { createApplication } from './applications.ts'
import { deleteToken, loadToken, resetToken, revokeGrant } from './grants.ts'
import { applicationJson, NewApplicationJson } from './json.ts'

const body = Type.Object({ access_token: Type.String({ minLength: 1, maxLength: 255 }) })
const common = { permission: 'classic', viewer: 'client', scopes: [], body } as const

export const api = group('OAuth applications', [
  post(
    '/applications/{client_id}/token',
    {
      ...common,
      operation: 'apps/check-token',
      summary: 'Check a token of the application, and get its user',
      answers: { 200: Authorization },
    },
    async (context) => {
      const held = await loadOwnToken(context)
      return authorizationJson({ ...held, app: context.application, token: context.body.access_token }, held.user, context.wire)
    },
  ),
  patch(
    '/applications/{client_id}/token',
    {
      ...common,
      operation: 'apps/reset-token',
      summary: 'Replace a token of the application by a new one, which is shown once',
      answers: { 200: Authorization },
    },
    async (context) => {
      const fresh = await resetToken(context.db, { application: context.application.name }, await loadOwnToken(context))
      return authorizationJson({ ...fresh, app: context.application }, fresh.user, context.wire)
    },
  ),
  del(
    '/applications/{client_id}/token',
    { ...common, operation: 'apps/delete-token', summary: 'Delete a token of the application', answers: { 204: Nothing } },
    async (context) => deleteToken(context.db, { application: context.application.name }, await loadOwnToken(context)),
  ),
  del(
    '/applications/{client_id}/grant',
    {
      ...common,
      operation: 'apps/delete-authorization',
      summary: "Delete a user's grant to the application, with the keys that the application added",
      answers: { 204: Nothing },
    },
    async (context) =>
      revokeGrant(context.db, context.application, (await loadOwnToken(context)).user, {
        application: context.application.name,
      }),
  ),
  post(
    '/admin/applications',
    {
      operation: 'enterprise-admin/create-application',
      permission: 'classic',
      summary: 'Register an OAuth application for a user or an organization; its secret is shown once',
      scopes: ['site_admin'],
      viewer: 'site_admin',
      body: Type.Object({
        name: Type.String(),
        url: Type.String(),
        callback_url: Type.String(),
        owner: Type.String(),
        description: Type.Optional(Type.String({ maxLength: 500 })),
        strict_redirect: Type.Optional(Type.Boolean()),
      }),
      answers: { 201: NewApplicationJson },
    },
    async ({ db, viewer, body: { owner, ...wanted } }) =>
      applicationJson(await createApplication(db, viewer, await loadOwner(db, owner), wanted)),
  ),
])

interface TokenContext {
  db: Queryable
  application: Application
  params: { client_id: string }
  body: { access_token: string }
}

/** An application can act for itself only; others are not found. */
async function loadOwnToken({ db, application, params, body }: TokenContext) {
  if (application.client_id !== params.client_id) throw missing()
  return loadToken(db, application, body.access_token)
}

async function loadOwner(db: Queryable, login: string) {
  return loadAccount(db, login).catch((error) => {
    throw error instanceof Refusal
      ? invalid({ resource: 'Application', code: 'invalid', field: 'owner', message: `there is no account '${login}'` })
      : error
  })
}
