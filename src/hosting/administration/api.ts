import { recordAudit } from '#activity/audit.ts'
import { SimpleOrganization, simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { created, del, group, patch, post, put } from '#http/endpoint.ts'
import { Nothing, NullableString } from '#http/serialization.ts'
import { loadUser } from '#identity/accounts.ts'
import { deleteImpersonationTokens } from '#identity/tokens.ts'
import { Authorization, authorizationJson } from '#parts/authentication/json.ts'
import { forbidden, invalid, missing, Refusal } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { administer, changeUser, createOrganizationByAdmin, createUserByAdmin, resetPasswordByAdmin } from './acts.ts'
import { administerOrganization, changeOrganization } from './organization-acts.ts'
import { createTokenByAdmin } from './tokens.ts'

const administration = { permission: 'classic', scopes: ['site_admin'], viewer: 'site_admin' } as const

const NewLogin = Type.Object({ login: Type.String({ minLength: 1, maxLength: 100 }) })
const NewPassword = Type.Object({ login: Type.String(), password: NullableString })
const Renamed = Type.Object({ message: Type.String(), url: Type.String() })

export const api = group('Administration', [
  post(
    '/admin/users',
    {
      ...administration,
      operation: 'enterprise-admin/create-user',
      summary: 'Create a user; without a password, the user can use tokens only',
      body: Type.Object({
        login: Type.String({ minLength: 1, maxLength: 100 }),
        email: Type.Optional(Type.String()),
        password: Type.Optional(Type.String({ minLength: 8, maxLength: 256 })),
        name: Type.Optional(Type.String({ maxLength: 255 })),
      }),
      own_transaction: true,
      answers: { 201: SimpleUser },
    },
    async ({ db, viewer, body, wire }) => created(userJson(await createUserByAdmin(db, viewer, body), wire)),
  ),
  patch(
    '/admin/users/{username}',
    {
      ...administration,
      operation: 'enterprise-admin/update-username-for-user',
      summary: 'Rename a user; addresses of their repositories redirect',
      body: NewLogin,
      answers: { 202: Renamed },
    },
    async ({ db, user, viewer, body, wire }) => {
      if (user.type !== 'User') throw missing()
      const login = await changeUser(db, viewer, user, 'rename', body.login)
      return { message: `The user is now ${login}.`, url: `${wire.api}/user/${user.id}` }
    },
  ),
  del(
    '/admin/users/{username}',
    {
      ...administration,
      operation: 'enterprise-admin/delete-user',
      summary: 'Delete a user with all of their repositories, applications and settings',
      own_transaction: true,
      answers: { 204: Nothing },
    },
    async ({ db, user, viewer }) => {
      if (user.type !== 'User') throw missing()
      await administer(db, viewer, user, 'delete')
    },
  ),
  patch(
    '/admin/organizations/{org}',
    {
      ...administration,
      operation: 'enterprise-admin/update-org-name',
      summary: 'Rename an organization; addresses of its repositories redirect',
      body: NewLogin,
      answers: { 202: Renamed },
    },
    async ({ db, org, viewer, body, wire }) => {
      const login = await changeOrganization(db, viewer, org, 'rename', body.login)
      return { message: `The organization is now ${login}.`, url: `${wire.api}/organizations/${org.id}` }
    },
  ),
  del(
    '/admin/organizations/{org}',
    {
      ...administration,
      operation: 'belfry-admin/delete-org',
      summary: 'Delete an organization with all of its repositories, teams and webhooks',
      own_transaction: true,
      answers: { 204: Nothing },
    },
    async ({ db, org, viewer }) => {
      await administerOrganization(db, viewer, org, 'delete')
    },
  ),
  put(
    '/admin/organizations/{org}/suspended',
    {
      ...administration,
      operation: 'belfry-admin/suspend-org',
      summary: 'Suspend an organization: it and its repositories are read-only',
      body: Type.Object({ reason: Type.Optional(Type.String({ maxLength: 1000 })) }),
      answers: { 204: Nothing },
    },
    async ({ db, org, viewer }) => {
      await changeOrganization(db, viewer, org, 'suspend')
    },
  ),
  del(
    '/admin/organizations/{org}/suspended',
    {
      ...administration,
      operation: 'belfry-admin/unsuspend-org',
      summary: 'Unsuspend an organization',
      answers: { 204: Nothing },
    },
    async ({ db, org, viewer }) => {
      await changeOrganization(db, viewer, org, 'unsuspend')
    },
  ),
  post(
    '/admin/organizations',
    {
      ...administration,
      operation: 'enterprise-admin/create-org',
      summary: 'Create an organization with a first owner',
      body: Type.Object({
        login: Type.String({ minLength: 1, maxLength: 100 }),
        admin: Type.String(),
        profile_name: Type.Optional(Type.String({ maxLength: 255 })),
      }),
      answers: { 201: SimpleOrganization },
    },
    async ({ db, viewer, body, wire }) => {
      const owner = await loadUser(db, body.admin).catch((error) => {
        throw error instanceof Refusal
          ? invalid({ resource: 'Organization', code: 'invalid', field: 'admin', message: `there is no user '${body.admin}'` })
          : error
      })
      return created(simpleOrganizationJson(await createOrganizationByAdmin(db, viewer, owner, body), wire))
    },
  ),
  post(
    '/admin/users/{username}/authorizations',
    {
      ...administration,
      operation: 'enterprise-admin/create-impersonation-o-auth-token',
      summary: 'Create a token that acts for a user; it is shown once',
      body: Type.Object({ scopes: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })) }),
      answers: { 201: Authorization },
    },
    async ({ db, user, viewer, body, wire }) => {
      if (user.type !== 'User') throw missing()
      const wanted = { note: 'Site admin impersonation', scopes: body.scopes ?? [] }
      const token = await createTokenByAdmin(db, viewer, user, wanted)
      return created(authorizationJson(token, user, wire))
    },
  ),
  del(
    '/admin/users/{username}/authorizations',
    {
      ...administration,
      operation: 'enterprise-admin/delete-impersonation-o-auth-token',
      summary: 'Revoke all tokens that site admins created for a user',
      answers: { 204: Nothing },
    },
    async ({ db, user, viewer }) => {
      if (!(await deleteImpersonationTokens(db, user))) throw missing()
      await recordAudit(db, viewer, 'user.end_impersonation', user.login)
    },
  ),
  put(
    '/admin/users/{username}/password',
    {
      ...administration,
      operation: 'belfry-admin/reset-password',
      summary: 'Reset the password of a user, and end their sessions; without a password, one is made, and shown once',
      body: Type.Object({
        password: Type.Optional(Type.String({ minLength: 8, maxLength: 256 })),
        disable_two_factor: Type.Optional(Type.Boolean()),
      }),
      own_transaction: true,
      answers: { 200: NewPassword },
    },
    async ({ db, user, viewer, body }) => {
      if (user.type !== 'User') throw missing()
      const two_factor = body.disable_two_factor !== true
      const made = await resetPasswordByAdmin(db, viewer, user, { password: body.password, two_factor })
      return { login: user.login, password: body.password === undefined ? made : null }
    },
  ),
  put(
    '/users/{username}/site_admin',
    {
      ...administration,
      operation: 'enterprise-admin/promote-user-to-be-site-administrator',
      summary: 'Promote a user to site admin',
      answers: { 204: Nothing },
    },
    async ({ db, user, viewer }) => {
      if (user.type !== 'User') throw missing()
      await changeUser(db, viewer, user, 'promote')
    },
  ),
  del(
    '/users/{username}/site_admin',
    {
      ...administration,
      operation: 'enterprise-admin/demote-site-administrator',
      summary: 'Demote a site admin',
      answers: { 204: Nothing },
    },
    async ({ db, user, viewer }) => {
      if (user.type !== 'User') throw missing()
      if (user.id === viewer.id) throw forbidden('Site admins cannot demote themselves.')
      await changeUser(db, viewer, user, 'demote')
    },
  ),
  put(
    '/users/{username}/suspended',
    {
      ...administration,
      operation: 'enterprise-admin/suspend-user',
      summary: 'Suspend a user: tokens, password and sessions stop working at once',
      body: Type.Object({ reason: Type.Optional(Type.String({ maxLength: 1000 })) }),
      answers: { 204: Nothing },
    },
    async ({ db, user, viewer }) => {
      if (user.type !== 'User') throw missing()
      if (user.id === viewer.id) throw forbidden('Site admins cannot suspend themselves.')
      await changeUser(db, viewer, user, 'suspend')
    },
  ),
  del(
    '/users/{username}/suspended',
    {
      ...administration,
      operation: 'enterprise-admin/unsuspend-user',
      summary: 'Unsuspend a user',
      answers: { 204: Nothing },
    },
    async ({ db, user, viewer }) => {
      if (user.type !== 'User') throw missing()
      await changeUser(db, viewer, user, 'unsuspend')
    },
  ),
])
