import { Answer, del, get, group, post, put } from '#http/endpoint.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import type { TokenFacts } from '#identity/callers.ts'
import { loadAppBySlug } from '#parts/apps/apps.ts'
import { answerRepositories } from '#parts/apps/installations/answer-repositories.ts'
import {
  type Installation,
  included,
  listInstallations,
  loadAdministered,
  loadInstallation,
  reachableBy,
} from '#parts/apps/installations/installation.ts'
import { addRepository, install, removeRepository, uninstall } from '#parts/apps/installations/installations.ts'
import { InstallationList, InstallationRepositories, InstallationSchema, installationJson } from '#parts/apps/json.ts'
import { type Database, type Queryable, type Sql, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { Slice } from '#platform/listed.ts'
import { Type } from '#platform/schema.ts'

const Ids = Type.Array(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }), { maxItems: 500 })
const NewInstallation = Type.Object({ app_slug: Type.String({ maxLength: 100 }), repository_ids: Type.Optional(Ids) })

export const api = group('Installed apps', [
  get(
    '/user/installations',
    {
      operation: 'apps/list-installations-for-authenticated-user',
      permission: 'any',
      scopes: ['read:org', 'repo'],
      summary: "List installations on the caller's account and organizations; with a token of an app, those of the app",
      list: true,
      answers: { 200: InstallationList },
    },
    async ({ db, viewer, caller, page, wire }) =>
      answerInstallations(db, sql`${reachableBy(viewer)} and ${ofCallingApp(caller.token)}`, page, wire),
  ),
  get(
    '/user/installations/{installation_id}/repositories',
    {
      operation: 'apps/list-installation-repos-for-authenticated-user',
      permission: 'any',
      scopes: ['read:org', 'repo'],
      summary: 'List the repositories of an installation that the caller has access to',
      list: true,
      answers: { 200: InstallationRepositories },
    },
    async ({ db, viewer, caller, params, page, wire }) => {
      const condition = sql`i.id = ${params.installation_id} and ${reachableBy(viewer)} and ${ofCallingApp(caller.token)}`
      const installation = await loadInstallation(db, condition)
      return answerRepositories(db, caller, installation, included(installation), page, wire)
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
      await addRepository(db, viewer, await loadSelective(db, viewer, params.installation_id), params.repository_id)
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
      await removeRepository(db, viewer, await loadSelective(db, viewer, params.installation_id), params.repository_id)
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
      return new Answer(installationJson(await install(db, viewer, app, viewer, body.repository_ids ?? null), wire), {
        status: 201,
      })
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
    async ({ db, viewer, params }) => uninstall(db, viewer, await loadAdministered(db, viewer, params.installation_id)),
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
    async ({ db, org, page, wire }) => answerInstallations(db, sql`i.account_id = ${org.id}`, page, wire),
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
      return new Answer(installationJson(await install(db, viewer, app, org, body.repository_ids ?? null), wire), { status: 201 })
    },
  ),
])

/** A user's token of an app shows the installations of that app only, and a fine-grained token those on its resource owner. */
function ofCallingApp(token: TokenFacts | null) {
  if (token?.app_id) return sql`i.app_id = ${token.app_id} and i.suspended_at is null`
  return token?.kind === 'fine_grained' ? sql`i.account_id = ${token.resource_owner_id}` : sql`true`
}

async function answerInstallations(db: Database, condition: Sql, page: Slice, wire: Wire) {
  const { rows, total } = await listInstallations(db, condition, page)
  const installations = rows.map((row) => installationJson(row, wire))
  return new Answer({ total_count: total, installations }, { total })
}

/** An installation on all repositories has no list to change. */
async function loadSelective(db: Queryable, user: { id: number }, id: number): Promise<Installation> {
  const installation = await loadAdministered(db, user, id)
  if (installation.all_repositories) throw missing()
  return installation
}
