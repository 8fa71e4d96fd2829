import type { Belfry } from '#belfry.ts'
import { appJson, Integration } from '#hosting/apps/json.ts'
import { Answer, type Group, get, group, listOf, paged, post } from '#http/endpoint.ts'
import { loadAccount } from '#identity/accounts.ts'
import { hookDepsOf } from '#parts/webhooks/create.ts'
import { sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { listApps, loadAppBySlug } from './apps.ts'
import { NewIntegration, newAppJson } from './json.ts'
import { convertCode, readManifest, registerApp } from './manifest.ts'

const Texts = Type.Unsafe<Record<string, unknown>>({ type: 'object' })

/** The body is a manifest, see manifest.ts for the limits of its fields. */
const ManifestSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 34 }),
  url: Type.String({ maxLength: 500 }),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  hook_attributes: Type.Optional(Texts),
  callback_urls: Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: 10 })),
  setup_url: Type.Optional(Type.String({ maxLength: 500 })),
  public: Type.Optional(Type.Boolean()),
  default_permissions: Type.Optional(Texts),
  default_events: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })),
})

const registering = { permission: 'classic', own_transaction: true, answers: { 201: NewIntegration } } as const

export function appApi(belfry: Belfry): Group {
  const deps = hookDepsOf(belfry)
  return group('Apps', [
    post(
      '/user/apps',
      {
        ...registering,
        operation: 'apps/create-for-authenticated-user',
        summary: 'Register an app of the caller by its manifest; secrets and the private key are shown once',
        scopes: ['user'],
        body: ManifestSchema,
      },
      async ({ db, viewer, body, wire }) =>
        new Answer(newAppJson(await registerApp(db, viewer, viewer, readManifest(body).wanted, deps), wire), { status: 201 }),
    ),
    post(
      '/orgs/{org}/apps',
      {
        ...registering,
        operation: 'apps/create-for-org',
        summary: 'Register an app of an organization by its manifest; secrets and the private key are shown once',
        scopes: ['admin:org'],
        org_role: 'owner',
        body: ManifestSchema,
      },
      async ({ db, org, viewer, body, wire }) =>
        new Answer(newAppJson(await registerApp(db, viewer, org, readManifest(body).wanted, deps), wire), { status: 201 }),
    ),
    post(
      '/admin/apps',
      {
        ...registering,
        operation: 'enterprise-admin/create-app',
        summary: 'Register an app for a user or an organization; secrets and the private key are shown once',
        scopes: ['site_admin'],
        viewer: 'site_admin',
        body: Type.Object({ ...ManifestSchema.properties, owner: Type.String() }),
      },
      async ({ db, viewer, body, wire }) => {
        const owner = await loadAccount(db, body.owner).catch(() => undefined)
        if (!owner || owner.type === 'Bot') {
          throw invalid({
            resource: 'Integration',
            code: 'invalid',
            field: 'owner',
            message: `there is no account '${body.owner}'`,
          })
        }
        return new Answer(newAppJson(await registerApp(db, viewer, owner, readManifest(body).wanted, deps), wire), {
          status: 201,
        })
      },
    ),
    post(
      '/app-manifests/{code}/conversions',
      {
        operation: 'apps/create-from-manifest',
        permission: 'any',
        viewer: 'optional',
        summary: 'Exchange the code of the manifest flow for the credentials of the new app, once',
        takes_code: true,
        own_transaction: true,
        answers: { 201: NewIntegration },
      },
      async ({ db, params, wire }) =>
        new Answer(newAppJson(await convertCode(db, belfry.vault, params.code), wire), { status: 201 }),
    ),
    get(
      '/user/apps',
      {
        operation: 'apps/list-for-authenticated-user',
        permission: 'classic',
        summary: 'List the apps of the caller and of organizations that the caller owns',
        scopes: ['user'],
        ...listOf(Integration),
      },
      async ({ db, viewer, page, wire }) => paged(await listApps(db, viewer, page), (app) => appJson(app, wire)),
    ),
    get(
      '/apps/{app_slug}',
      {
        operation: 'apps/get-by-slug',
        permission: 'any',
        viewer: 'optional',
        summary: 'Get an app; private apps are visible to their owners and where they are installed',
        answers: { 200: Integration },
      },
      async ({ db, caller, params, wire }) => appJson(await loadAppBySlug(db, params.app_slug, caller.viewer_id), wire),
    ),
    get(
      '/app',
      {
        operation: 'apps/get-authenticated',
        permission: 'classic',
        viewer: 'app',
        summary: 'Get the calling app',
        answers: { 200: Integration },
      },
      async ({ db, app, wire }) => {
        const { count } = await db.load<{ count: number }>(sql`select count(*) from installations where app_id = ${app.id}`)
        return appJson(app, wire, count)
      },
    ),
  ])
}
