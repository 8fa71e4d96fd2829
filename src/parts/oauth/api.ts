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
      summary: 'Check a token of the application, and see whose it is',
      answers: { 200: Authorization },
    },
    async ({ db, application, params, body: { access_token }, wire }) => {
      checkOwn(application, params.client_id)
      const held = await loadToken(db, application, access_token)
      return authorizationJson({ ...held, app: application, token: access_token }, held.user, wire)
    },
  ),
  patch(
    '/applications/{client_id}/token',
    {
      ...common,
      operation: 'apps/reset-token',
      summary: 'Replace a token of the application by a new one; shown once',
      answers: { 200: Authorization },
    },
    async ({ db, application, params, body: { access_token }, wire }) => {
      checkOwn(application, params.client_id)
      const fresh = await resetToken(db, await loadToken(db, application, access_token))
      return authorizationJson({ ...fresh, app: application }, fresh.user, wire)
    },
  ),
  del(
    '/applications/{client_id}/token',
    { ...common, operation: 'apps/delete-token', summary: 'End a token of the application', answers: { 204: Nothing } },
    async ({ db, application, params, body: { access_token } }) => {
      checkOwn(application, params.client_id)
      await deleteToken(db, await loadToken(db, application, access_token))
    },
  ),
  del(
    '/applications/{client_id}/grant',
    {
      ...common,
      operation: 'apps/delete-authorization',
      summary: 'End all that a user has allowed the application, with the keys it made for them',
      answers: { 204: Nothing },
    },
    async ({ db, application, params, body: { access_token } }) => {
      checkOwn(application, params.client_id)
      const { user } = await loadToken(db, application, access_token)
      await revokeGrant(db, application, user)
    },
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
    async ({ db, body: { owner, ...wanted } }) =>
      applicationJson(await createApplication(db, await loadOwner(db, owner), wanted)),
  ),
])

/** An application can act for itself only; others are not found. */
function checkOwn({ client_id }: Application, named: string) {
  if (client_id !== named) throw missing()
}

async function loadOwner(db: Queryable, login: string) {
  return loadAccount(db, login).catch((error) => {
    throw error instanceof Refusal
      ? invalid({ resource: 'Application', code: 'invalid', field: 'owner', message: `there is no account '${login}'` })
      : error
  })
}
