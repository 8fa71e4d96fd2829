import { createHash } from 'node:crypto'
import { loadOrganization } from '#hosting/organizations/organizations.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { addKey, createApp, describeKey, newKey } from '#parts/apps/apps.ts'
import { install } from '#parts/apps/installations/installations.ts'
import { createApplication } from '#parts/oauth/applications.ts'
import { createHook, hookDepsOf } from '#parts/webhooks/create.ts'
import { type HookTarget, targetOf } from '#parts/webhooks/hook-target.ts'
import { updateHook } from '#parts/webhooks/update.ts'
import { sql } from '#platform/database.ts'
import type { Seed, SeedApp, SeedOAuthApplication } from './format.ts'
import type { Path } from './path.ts'
import { actorFor } from './repositories.ts'
import type { SeedHook } from './repository-format.ts'
import type { SeedStage } from './seed-stage.ts'
import type { Step, Timetable } from './timetable.ts'

/** OAuth applications, apps and hooks. A hook is created inactive and then activated, so that not even a ping is sent. */
export function planIntegrations(timetable: Timetable, seed: Seed) {
  const { organizations = [], repositories = [], oauth_applications = [], apps = [] } = seed
  const thread = timetable.begin([], undefined, async () => {})
  const add = (path: Path, run: Step['run']) => timetable.add(thread, path, undefined, run)
  for (const [index, application] of oauth_applications.entries())
    add(['oauth_applications', index], (stage) => writeApplication(stage, application))
  for (const [index, app] of apps.entries()) add(['apps', index], (stage) => writeApp(stage, app, seed))
  for (const [index, { login, owners, hooks = [] }] of organizations.entries()) {
    for (const [place, hook] of hooks.entries())
      add(['organizations', index, 'hooks', place], async (stage) => {
        const org = await loadOrganization(stage.db, stage.account(owners[0] ?? '').id, login)
        await writeHook(stage, owners[0] ?? '', targetOf({ org }), hook)
      })
  }
  for (const [index, { name, hooks = [] }] of repositories.entries()) {
    const by = actorFor(name, organizations)
    for (const [place, hook] of hooks.entries())
      add(['repositories', index, 'hooks', place], async (stage) => {
        const { repo } = await stage.as(by, name)
        await writeHook(stage, by, targetOf({ repo }), hook)
      })
  }
}

async function writeHook(stage: SeedStage, by: string, target: HookTarget, wanted: SeedHook) {
  const { url, events = ['push'], secret, content_type = 'json', active = true } = wanted
  const [creator, deps] = [stage.account(by), hookDepsOf(stage.belfry)]
  const config = { url, content_type, ...(secret !== undefined && { secret }) }
  await stage.transaction(async (db) => {
    const { id } = await createHook(db, creator, target, { config, events, active: false }, deps)
    if (active) await updateHook(db, creator, target, id, { active: true }, deps)
  })
}

/** The same value for the same name in every Belfry. */
export const derive = (what: string, name: string) => createHash('sha256').update(`belfry seed ${what} ${name}`).digest()

const clientOf = ({ name, client_id, client_secret }: SeedOAuthApplication | SeedApp) => ({
  client_id: client_id ?? derive('client id', name).toString('hex').slice(0, 20),
  client_secret: client_secret ?? derive('client secret', name).toString('hex').slice(0, 40),
})

async function writeApplication(stage: SeedStage, wanted: SeedOAuthApplication) {
  const { name, owner, callback_url, url = callback_url } = wanted
  const client = clientOf(wanted)
  await stage.transaction((db) =>
    createApplication(db, stage.account(owner), stage.account(owner), { name, url, callback_url }, client),
  )
  stage.access.oauth_applications[name] = client
}

async function writeApp(stage: SeedStage, wanted: SeedApp, { organizations = [] }: Seed) {
  const { name, owner, installations = [], private_key, webhook_url, webhook_secret, url = 'http://localhost/' } = wanted
  const deps = hookDepsOf(stage.belfry)
  const key = private_key === undefined ? await newKey() : { pem: private_key, ...describeKey(private_key) }
  const { pem, ...described } = key
  const chosen = await Promise.all(installations.map((each) => findRepositories(stage, each.repositories)))
  await stage.transaction(async (db) => {
    const registered = await createApp(
      db,
      stage.account(owner),
      stage.account(owner),
      {
        ...{ name, url, description: wanted.description, callback_url: wanted.callback_url },
        ...{ permissions: wanted.permissions, events: wanted.events, public: true },
        ...(webhook_url && { hook: { url: webhook_url, secret: webhook_secret ?? derived(name), active: false } }),
      },
      deps,
      clientOf(wanted),
    )
    const { app } = registered
    await addKey(db, stage.account(owner), app, described)
    const installed: Record<string, number> = {}
    for (const [index, { account }] of installations.entries()) {
      const installer = stage.account(actorFor(account, organizations))
      installed[account] = (await install(db, installer, app, stage.account(account), chosen[index] ?? null)).id
    }
    await db.query(sql`update hooks set active = true where app_id = ${app.id}`)
    stage.access.apps[app.slug] = {
      ...{ id: app.id, slug: app.slug, client_id: app.client_id, client_secret: registered.client_secret },
      ...{ webhook_secret: registered.webhook_secret, private_key: pem, installations: installed },
    }
  })
}

const derived = (name: string) => derive('webhook secret', name).toString('hex').slice(0, 40)

/** Null for all. */
async function findRepositories({ db }: SeedStage, names: string[] | undefined): Promise<number[] | null> {
  if (!names) return null
  const ids: number[] = []
  for (const full_name of names) {
    const [owner = '', name = ''] = full_name.split('/')
    ids.push((await loadRepository(db, { viewer_id: null, sees_private: true }, owner, name)).id)
  }
  return ids
}
