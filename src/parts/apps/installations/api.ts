import { repositoryJson } from '#hosting/repositories/json.ts'
import { listRepositories } from '#hosting/repositories/repositories.ts'
import { Answer, del, get, group, listOf, paged, post, put } from '#http/endpoint.ts'
import { byIdOwner, readPathId } from '#http/listener.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import type { Viewer } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { loadAppBySlug } from '#parts/apps/apps.ts'
import {
  InstallationList,
  InstallationRepositories,
  InstallationSchema,
  InstallationTokenSchema,
  installationJson,
} from '#parts/apps/json.ts'
import { type Database, type Queryable, type Sql, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { Slice } from '#platform/listed.ts'
import { Type } from '#platform/schema.ts'
import {
  addRepositories,
  type Installation,
  included,
  install,
  listInstallations,
  loadAdministered,
  loadInstallation,
  loadOfApp,
  reachableBy,
  removeRepositories,
  suspendInstallation,
  uninstall,
  unsuspendInstallation,
} from './installations.ts'
import { createInstallationToken } from './tokens.ts'

const asApp = { permission: 'classic', viewer: 'app' } as const
const Ids = Type.Array(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }), { maxItems: 500 })
const Names = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500 })
const Permissions = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  maxProperties: 100,
})
const NewInstallation = Type.Object({ app_slug: Type.String({ maxLength: 100 }), repository_ids: Type.Optional(Ids) })

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
    async ({ db, app, params }) => uninstall(db, await loadOfApp(db, app, params.installation_id)),
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
    async ({ db, app, params }) => suspendInstallation(db, await loadOfApp(db, app, params.installation_id), app.bot_id),
  ),
  del(
    '/app/installations/{installation_id}/suspended',
    { ...asApp, operation: 'apps/unsuspend-installation', summary: 'Resume a suspended installation', answers: { 204: Nothing } },
    async ({ db, app, params }) => unsuspendInstallation(db, await loadOfApp(db, app, params.installation_id)),
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
      return repositoriesAnswer(db, caller, installation, sql`${included(installation)} and ${limited}`, page, wire)
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
  get(
    '/user/installations',
    {
      operation: 'apps/list-installations-for-authenticated-user',
      permission: 'any',
      summary: "List installations on the caller's account and organizations; with a token of an app, those of the app",
      list: true,
      answers: { 200: InstallationList },
    },
    async ({ db, viewer, caller, page, wire }) =>
      installationsAnswer(db, sql`${reachableBy(viewer)} and ${ofCallingApp(caller.token)}`, page, wire),
  ),
  get(
    '/user/installations/{installation_id}/repositories',
    {
      operation: 'apps/list-installation-repos-for-authenticated-user',
      permission: 'any',
      summary: 'List the repositories of an installation that the caller has access to',
      list: true,
      answers: { 200: InstallationRepositories },
    },
    async ({ db, viewer, caller, params, page, wire }) => {
      const condition = sql`i.id = ${params.installation_id} and ${reachableBy(viewer)} and ${ofCallingApp(caller.token)}`
      const installation = await loadInstallation(db, condition)
      return repositoriesAnswer(db, caller, installation, included(installation), page, wire)
    },
  ),
  put(
    '/user/installations/{installation_id}/repositories/{repository_id}',
    {
      operation: 'apps/add-repo-to-installation-for-authenticated-user',
      permission: 'classic',
      summary: 'Add a repository to an installation that the caller administers',
      scopes: ['repo'],
      answers: { 204: Nothing },
    },
    async ({ db, viewer, params }) => {
      await addRepositories(db, await loadSelective(db, viewer, params.installation_id), [params.repository_id])
    },
  ),
  del(
    '/user/installations/{installation_id}/repositories/{repository_id}',
    {
      operation: 'apps/remove-repo-from-installation-for-authenticated-user',
      permission: 'classic',
      summary: 'Remove a repository from an installation that the caller administers',
      scopes: ['repo'],
      answers: { 204: Nothing },
    },
    async ({ db, viewer, params }) => {
      const removed = await removeRepositories(db, await loadSelective(db, viewer, params.installation_id), [
        params.repository_id,
      ])
      if (!removed.length) throw missing()
    },
  ),
  post(
    '/user/installations',
    {
      operation: 'apps/install-for-authenticated-user',
      permission: 'classic',
      summary: 'Install an app on the account of the caller, for all repositories or those with `repository_ids`',
      scopes: ['repo'],
      refuses: ['missing'],
      body: NewInstallation,
      answers: { 201: InstallationSchema },
    },
    async ({ db, viewer, body, wire }) => {
      const app = await loadAppBySlug(db, body.app_slug, viewer.id)
      return new Answer(installationJson(await install(db, app, viewer, body.repository_ids ?? null), wire), { status: 201 })
    },
  ),
  del(
    '/user/installations/{installation_id}',
    {
      operation: 'apps/uninstall-for-authenticated-user',
      permission: 'classic',
      summary: 'Uninstall an app from an account that the caller administers',
      scopes: ['repo'],
      answers: { 204: Nothing },
    },
    async ({ db, viewer, params }) => uninstall(db, await loadAdministered(db, viewer, params.installation_id)),
  ),
  get(
    '/orgs/{org}/installations',
    {
      operation: 'orgs/list-app-installations',
      permission: 'organization_administration:read',
      summary: 'List the installations on an organization, for its owners',
      scopes: ['admin:org'],
      org_role: 'owner',
      list: true,
      answers: { 200: InstallationList },
    },
    async ({ db, org, page, wire }) => installationsAnswer(db, sql`i.account_id = ${org.id}`, page, wire),
  ),
  post(
    '/orgs/{org}/installations',
    {
      operation: 'apps/install-for-org',
      permission: 'classic',
      summary: 'Install an app on an organization, for all repositories or those with `repository_ids`',
      scopes: ['admin:org'],
      org_role: 'owner',
      body: NewInstallation,
      answers: { 201: InstallationSchema },
    },
    async ({ db, viewer, org, body, wire }) => {
      const app = await loadAppBySlug(db, body.app_slug, viewer.id)
      return new Answer(installationJson(await install(db, app, org, body.repository_ids ?? null), wire), { status: 201 })
    },
  ),
])

/** A user's token of an app shows the installations of that app only. */
const ofCallingApp = (token: { app_id: number | null } | null) =>
  token?.app_id ? sql`i.app_id = ${token.app_id} and i.suspended_at is null` : sql`true`

async function installationsAnswer(db: Database, condition: Sql, page: Slice, wire: Wire) {
  const { rows, total } = await listInstallations(db, condition, page)
  const installations = rows.map((row) => installationJson(row, wire))
  return new Answer({ total_count: total, installations }, { total })
}

/** The repositories of an installation, as far as the viewer sees them. */
async function repositoriesAnswer(
  db: Database,
  viewer: Viewer,
  installation: Installation,
  condition: Sql,
  page: Slice,
  wire: Wire,
) {
  const { rows, total } = await listRepositories(db, viewer, condition, sql`r.id`, page)
  const repositories = rows.map((repo) => repositoryJson(repo, wire, true))
  const repository_selection = installation.all_repositories ? 'all' : 'selected'
  return new Answer({ total_count: total, repository_selection, repositories }, { total })
}

/** An installation on all repositories has no list to change. */
async function loadSelective(db: Queryable, user: { id: number }, id: number): Promise<Installation> {
  const installation = await loadAdministered(db, user, id)
  if (installation.all_repositories) throw missing()
  return installation
}

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
