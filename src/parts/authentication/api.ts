import { Answer, created, del, get, group, paged, patch, post, put } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import type { Application, ClientCredentials } from '#identity/clients.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import {
  createAuthorization,
  deleteAuthorization,
  deleteGrant,
  findAuthorization,
  listAuthorizations,
  listGrants,
  loadAuthorization,
  loadClient,
  loadGrant,
  type NewAuthorization,
  updateAuthorization,
} from './authorizations.ts'
import { Authorization, authorizationJson, GrantSchema, grantJson } from './json.ts'

const byPassword = { permission: 'classic', viewer: 'password' } as const
/** The client's secret is checked before the transaction, because a rollback must not undo the count of wrong secrets. */
const forClient = { ...byPassword, own_transaction: true } as const

const ScopeNames = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })
const NullableScopeNames = Type.Unsafe<string[] | null>({ ...ScopeNames, type: ['array', 'null'] })
const Note = Type.String({ maxLength: 255 })
const Fingerprint = Type.String({ maxLength: 255 })

const common = {
  scopes: Type.Optional(NullableScopeNames),
  note: Type.Optional(Note),
  note_url: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 500 })),
}

const ForApplication = Type.Object({ ...common, client_secret: Type.String({ maxLength: 40 }) })

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
      summary: "The viewer's tokens, personal ones and those of applications",
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
      summary: 'Make a token, a personal one or one of an application; shown once',
      body: Type.Object({
        ...common,
        client_id: Type.Optional(Type.String({ maxLength: 20 })),
        client_secret: Type.Optional(Type.String({ maxLength: 40 })),
        fingerprint: Type.Optional(Fingerprint),
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
      summary: "An application's token: a new one (201), or the one there is, without its text (200)",
      body: Type.Object({ ...ForApplication.properties, fingerprint: Type.Optional(Fingerprint) }),
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
      summary: "An application's token for one place: a new one (201), or the one there is, without its text (200)",
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
      summary: 'A token of the viewer, without its text',
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
      summary: 'Change what a token may do, by one of the three lists of scopes, or how it is named',
      body: Type.Object({
        scopes: common.scopes,
        add_scopes: Type.Optional(ScopeNames),
        remove_scopes: Type.Optional(ScopeNames),
        note: Type.Optional(Note),
        note_url: Type.Optional(Type.String({ maxLength: 500 })),
        fingerprint: Type.Optional(Fingerprint),
      }),
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
      summary: 'End a token',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => deleteAuthorization(db, viewer, params.authorization_id),
  ),
  get(
    '/applications/grants',
    {
      ...byPassword,
      operation: 'oauth-authorizations/list-grants',
      summary: 'Applications that the viewer has let in, each with all it was allowed',
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
      summary: 'An application that the viewer has let in',
      answers: { 200: GrantSchema },
    },
    async ({ db, viewer, params, wire }) => grantJson(await loadGrant(db, viewer, params.grant_id), viewer, wire),
  ),
  del(
    '/applications/grants/{grant_id}',
    {
      ...byPassword,
      operation: 'oauth-authorizations/delete-grant',
      summary: 'Let an application in no more: its tokens end, and the keys it made go',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => deleteGrant(db, viewer, params.grant_id),
  ),
])
