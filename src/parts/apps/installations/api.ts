import { repositoryJson } from '#hosting/repositories/json.ts'
import { listRepositories } from '#hosting/repositories/repositories.ts'
import { Answer, del, get, group, listOf, paged, post, put } from '#http/endpoint.ts'
import { byIdOwner, readPathId } from '#http/listener.ts'
import { Nothing } from '#http/serialization.ts'
import type { App } from '#identity/apps.ts'
import { botOf } from '#parts/apps/apps.ts'
import {
  InstallationRepositories,
  InstallationRequestSchema,
  InstallationSchema,
  InstallationTokenSchema,
  installationJson,
  requestJson,
} from '#parts/apps/json.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { Type } from '#platform/schema.ts'
import { answerRepositories } from './answer-repositories.ts'
import { type Installation, included, listInstallations, loadInstallation, loadOfApp } from './installation.ts'
import { suspendInstallation, uninstall, unsuspendInstallation } from './installations.ts'
import { listRequestsForApp } from './requests.ts'
import { createInstallationToken } from './tokens.ts'

const asApp = { permission: 'classic', viewer: 'app' } as const
const Ids = Type.Array(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }), { maxItems: 500 })
const Names = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500 })
const Permissions = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  maxProperties: 100,
})

export const api = group('App installations', [
  get(
    '/app/installations',
    {
      ...asApp,
      operation: 'apps/list-installations',
      summary: 'List the installations of the app',
      ...listOf(InstallationSchema),
    },
    async ({ db, app, page, wire }) =>
      paged(await listInstallations(db, sql`i.app_id = ${app.id}`, page), (row) => installationJson(row, wire)),
  ),
  get(
    '/app/installation-requests',
    {
      ...asApp,
      operation: 'apps/list-installation-requests-for-authenticated-app',
      summary: 'List the requests of members that the owners of their organization install the app',
      ...listOf(InstallationRequestSchema),
    },
    async ({ db, app, page, wire }) => paged(await listRequestsForApp(db, app, page), (row) => requestJson(row, wire)),
  ),
  get(
    '/app/installations/{installation_id}',
    {
      ...asApp,
      operation: 'apps/get-installation',
      summary: 'Get an installation of the app',
      answers: { 200: InstallationSchema },
    },
    async ({ db, app, params, wire }) => installationJson(await loadOfApp(db, app, params.installation_id), wire),
  ),
  del(
    '/app/installations/{installation_id}',
    {
      ...asApp,
      operation: 'apps/delete-installation',
      summary: 'Uninstall the app; its tokens stop working',
      answers: { 204: Nothing },
    },
    async ({ db, app, params }) => uninstall(db, botOf(app), await loadOfApp(db, app, params.installation_id)),
  ),
  post(
    '/app/installations/{installation_id}/access_tokens',
    {
      ...asApp,
      operation: 'apps/create-installation-access-token',
      summary: 'Create a token of an installation for an hour, for all or some of its repositories and permissions',
      body: Type.Partial(Type.Object({ repositories: Names, repository_ids: Ids, permissions: Permissions })),
      answers: { 201: InstallationTokenSchema },
    },
    async ({ db, app, params, body, wire }) => {
      const installation = await loadOfApp(db, app, params.installation_id)
      const made = await createInstallationToken(db, app, installation, body)
      const { token, expires_at, permissions, repository_ids, viewer } = made
      const some =
        repository_ids &&
        (await listRepositories(db, viewer, sql`r.id = any(${repository_ids})`, sql`r.id`, { limit: 1000, offset: 0 }))
      const shown = {
        token,
        expires_at: `${expires_at.toISOString().slice(0, 19)}Z`,
        permissions,
        repository_selection: repository_ids || !installation.all_repositories ? 'selected' : 'all',
        ...(some && { repositories: some.rows.map((repo) => repositoryJson(repo, wire, true)) }),
      }
      return new Answer(shown, { status: 201 })
    },
  ),
  put(
    '/app/installations/{installation_id}/suspended',
    {
      ...asApp,
      operation: 'apps/suspend-installation',
      summary: 'Suspend an installation of the app',
      answers: { 204: Nothing },
    },
    async ({ db, app, params }) => suspendInstallation(db, botOf(app), await loadOfApp(db, app, params.installation_id)),
  ),
  del(
    '/app/installations/{installation_id}/suspended',
    {
      ...asApp,
      operation: 'apps/unsuspend-installation',
      summary: 'Resume an installation that the app suspended',
      answers: { 204: Nothing },
    },
    async ({ db, app, params }) => unsuspendInstallation(db, botOf(app), await loadOfApp(db, app, params.installation_id)),
  ),
  get(
    '/repos/{owner}/{repo}/installation',
    {
      ...asApp,
      operation: 'apps/get-repo-installation',
      summary: "Get the app's installation on a repository",
      answers: { 200: InstallationSchema },
    },
    async ({ db, app, names, wire }) => installationJson(await loadOnRepository(db, app, names.owner, names.repo), wire),
  ),
  get(
    '/orgs/{org}/installation',
    {
      ...asApp,
      operation: 'apps/get-org-installation',
      summary: "Get the app's installation on an organization",
      answers: { 200: InstallationSchema },
    },
    async ({ db, app, names, wire }) =>
      installationJson(await loadOnAccount(db, app, names.org, sql`a.type = 'Organization'`), wire),
  ),
  get(
    '/users/{username}/installation',
    {
      ...asApp,
      operation: 'apps/get-user-installation',
      summary: "Get the app's installation on an account",
      answers: { 200: InstallationSchema },
    },
    async ({ db, app, names, wire }) => installationJson(await loadOnAccount(db, app, names.username, sql`true`), wire),
  ),
  get(
    '/installation/repositories',
    {
      operation: 'apps/list-repos-accessible-to-installation',
      permission: 'metadata:read',
      viewer: 'installation',
      summary: 'List the repositories of the calling installation',
      list: true,
      answers: { 200: InstallationRepositories },
    },
    async ({ db, caller, page, wire }) => {
      const installation = await loadInstallation(db, sql`i.id = ${caller.token?.installation_id ?? 0}`)
      const limited = sql`exists (select from tokens k where k.id = ${caller.token_id ?? 0} and (k.all_repositories
        or r.id in (select l.repo_id from token_repositories l where l.token_id = k.id)))`
      return answerRepositories(db, caller, installation, sql`${included(installation)} and ${limited}`, page, wire)
    },
  ),
  del(
    '/installation/token',
    {
      operation: 'apps/revoke-installation-access-token',
      permission: 'any',
      viewer: 'installation',
      summary: 'Revoke the calling token of an installation',
      answers: { 204: Nothing },
    },
    async ({ db, caller }) => {
      await db.query(sql`delete from tokens where id = ${caller.token_id ?? 0}`)
    },
  ),
])

/** Repositories that the app is not installed on are not found, whether they exist or not. */
async function loadOnRepository(db: Queryable, app: App, owner: string, name: string): Promise<Installation> {
  const repo =
    owner === byIdOwner
      ? sql`r.id = ${/^\d{1,15}$/.test(name) ? Number(name) : 0}`
      : sql`lower(o.login) = lower(${owner}) and lower(r.name) = lower(${name})`
  return loadInstallation(
    db,
    sql`i.app_id = ${app.id} and exists (
      select from repositories r join accounts o on o.id = r.owner_id where ${repo} and r.owner_id = i.account_id and (i.all_repositories
        or exists (select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id)))`,
  )
}

function loadOnAccount(db: Queryable, app: App, login: string, condition: Sql): Promise<Installation> {
  const id = readPathId(login)
  const named = id === undefined ? sql`lower(a.login) = lower(${login})` : sql`a.id = ${id}`
  return loadInstallation(db, sql`i.app_id = ${app.id} and ${named} and ${condition}`)
}
