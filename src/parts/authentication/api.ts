import { Answer, created, del, get, group, paged, patch, post, put } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import type { Application, ClientCredentials } from '#identity/clients.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import {
  AuthorizationChanges,
  createAuthorization,
  deleteAuthorization,
  deleteGrant,
  Fingerprint,
  findAuthorization,
  listAuthorizations,
  listGrants,
  loadAuthorization,
  loadClient,
  loadGrant,
  NewAuthorization,
  updateAuthorization,
} from './authorizations.ts'
import { Authorization, authorizationJson, GrantSchema, grantJson } from './json.ts'

const byPassword = { permission: 'classic', viewer: 'password' } as const
/** The client's secret is checked before the transaction, because a rollback must not undo the count of wrong secrets. */
const forClient = { ...byPassword, own_transaction: true } as const

const ForApplication = Type.Object({ ...NewAuthorization.properties, client_secret: Type.String({ maxLength: 40 }) })

/** 201 with a new token in clear text, or 200 with the existing one, whose clear text is not stored. */
async function getOrCreate(db: Database, user: Account, wire: Wire, client: ClientCredentials, wanted: NewAuthorization) {
  const application = await loadClient(db, client)
  return db.transaction(async (transaction) => {
    const existing = await findAuthorization(transaction, user, application, wanted.fingerprint ?? null)
    if (!existing) {
      return created(authorizationJson(await createAuthorization(transaction, user, application, wanted), user, wire))
    }
    const body = authorizationJson(existing, user, wire)
    return new Answer(body, { status: 200, headers: { Location: body.url } })
  })
}

export const api = group('Authorizations', [
  get(
    '/authorizations',
    {
      ...byPassword,
      operation: 'oauth-authorizations/list-authorizations',
      summary: "List the viewer's tokens, personal ones and those of applications",
      query: { client_id: text() },
      list: true,
      answers: { 200: Type.Array(Authorization) },
    },
    async ({ db, viewer, query, page, wire }) =>
      paged(await listAuthorizations(db, viewer, query.client_id, page), (row) => authorizationJson(row, viewer, wire)),
  ),
  post(
    '/authorizations',
    {
      ...forClient,
      operation: 'oauth-authorizations/create-authorization',
      summary: 'Create a personal token or one of an application; it is shown once',
      body: Type.Object({
        ...NewAuthorization.properties,
        client_id: Type.Optional(Type.String({ maxLength: 20 })),
        client_secret: Type.Optional(Type.String({ maxLength: 40 })),
        fingerprint: Fingerprint,
      }),
      answers: { 201: Authorization },
    },
    async ({ db, viewer, address, body: { client_id = '', client_secret = '', ...wanted }, wire }) => {
      let application: Application | null = null
      if (client_id || client_secret) application = await loadClient(db, { client_id, client_secret, address })
      const made = await db.transaction((transaction) => createAuthorization(transaction, viewer, application, wanted))
      return created(authorizationJson(made, viewer, wire))
    },
  ),
  put(
    '/authorizations/clients/{client_id}',
    {
      ...forClient,
      operation: 'oauth-authorizations/get-or-create-authorization-for-app',
      summary: "Create an application's token (201), or get the existing one without its text (200)",
      body: Type.Object({ ...ForApplication.properties, fingerprint: Fingerprint }),
      answers: { 200: Authorization, 201: Authorization },
    },
    ({ db, viewer, address, params: { client_id }, body: { client_secret, ...wanted }, wire }) =>
      getOrCreate(db, viewer, wire, { client_id, client_secret, address }, wanted),
  ),
  put(
    '/authorizations/clients/{client_id}/{fingerprint}',
    {
      ...forClient,
      operation: 'oauth-authorizations/get-or-create-authorization-for-app-and-fingerprint',
      summary: "Create an application's token with a fingerprint (201), or get the existing one without its text (200)",
      body: ForApplication,
      answers: { 200: Authorization, 201: Authorization },
    },
    ({ db, viewer, address, params: { client_id, fingerprint }, body: { client_secret, ...wanted }, wire }) => {
      if (fingerprint.length > 255) throw new Refusal('invalid', 'A fingerprint has up to 255 characters.')
      return getOrCreate(db, viewer, wire, { client_id, client_secret, address }, { ...wanted, fingerprint })
    },
  ),
  get(
    '/authorizations/{authorization_id}',
    {
      ...byPassword,
      operation: 'oauth-authorizations/get-authorization',
      summary: 'Get a token of the viewer, without its text',
      answers: { 200: Authorization },
    },
    async ({ db, viewer, params, wire }) =>
      authorizationJson(await loadAuthorization(db, viewer, params.authorization_id), viewer, wire),
  ),
  patch(
    '/authorizations/{authorization_id}',
    {
      ...byPassword,
      operation: 'oauth-authorizations/update-authorization',
      summary: 'Update the scopes of a token, by one of the three lists, or its note',
      body: AuthorizationChanges,
      answers: { 200: Authorization },
    },
    async ({ db, viewer, params, body, wire }) =>
      authorizationJson(await updateAuthorization(db, viewer, params.authorization_id, body), viewer, wire),
  ),
  del(
    '/authorizations/{authorization_id}',
    {
      ...byPassword,
      operation: 'oauth-authorizations/delete-authorization',
      summary: 'Delete a token',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => deleteAuthorization(db, viewer, params.authorization_id),
  ),
  get(
    '/applications/grants',
    {
      ...byPassword,
      operation: 'oauth-authorizations/list-grants',
      summary: 'List the applications that the viewer has authorized, with their scopes',
      query: { client_id: text() },
      list: true,
      answers: { 200: Type.Array(GrantSchema) },
    },
    async ({ db, viewer, query, page, wire }) =>
      paged(await listGrants(db, viewer, query.client_id, page), (grant) => grantJson(grant, viewer, wire)),
  ),
  get(
    '/applications/grants/{grant_id}',
    {
      ...byPassword,
      operation: 'oauth-authorizations/get-grant',
      summary: 'Get an application that the viewer has authorized',
      answers: { 200: GrantSchema },
    },
    async ({ db, viewer, params, wire }) => grantJson(await loadGrant(db, viewer, params.grant_id), viewer, wire),
  ),
  del(
    '/applications/grants/{grant_id}',
    {
      ...byPassword,
      operation: 'oauth-authorizations/delete-grant',
      summary: 'Revoke the access of an application: its tokens and the keys that it added are deleted',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => deleteGrant(db, viewer, params.grant_id),
  ),
])
