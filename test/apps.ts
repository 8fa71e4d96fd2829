import { createSign } from 'node:crypto'
import { Client, expect, type Forge, Person, withPeople } from './forge.ts'

export interface RegisteredApp {
  id: number
  slug: string
  client_id: string
  client_secret: string
  webhook_secret: string
  pem: string
}

/** Registers an app of this person. */
export async function registerApp(person: Person, more: Record<string, unknown> = {}): Promise<RegisteredApp> {
  const manifest = { name: 'Octo Helper', url: 'https://helper.example', default_permissions: { issues: 'write' }, ...more }
  return expect(201, await person.post('/user/apps', manifest))
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs claims with a private key. */
export function signJwt(pem: string, claims: object, header: object = { alg: 'RS256', typ: 'JWT' }) {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(pem, 'base64url')}`
}

/** The claims of a valid token. Times are in seconds from now. */
export function claimsOf({ belfry }: Pick<Forge, 'belfry'>, { id }: { id: number }, { iat = -30, exp = 570 } = {}) {
  const now = Math.floor(belfry.db.now.getTime() / 1000)
  return { iss: String(id), iat: now + iat, exp: now + exp }
}

/** The app as a caller of the self-hosted variant. */
export function asApp(forge: Forge, app: RegisteredApp) {
  return forge.nobody.with({ authorization: `Bearer ${signJwt(app.pem, claimsOf(forge, app))}` })
}

/** A caller with a token of an installation. */
export async function asInstallation(
  forge: Forge,
  app: RegisteredApp,
  { id }: { id: number },
  narrowed: Record<string, unknown> = {},
) {
  const { token } = await expect(201, await asApp(forge, app).post(`/app/installations/${id}/access_tokens`, narrowed))
  return Object.assign(new Client(`${forge.web}/api/v3`, { authorization: `token ${token}` }), { token: token as string })
}

let checkers = 0

/** The bot of an app that may report checks of all repositories of this person, on both variants. */
export async function openChecker(forge: Forge, owner: Person, more: Record<string, unknown> = {}) {
  const app = await registerApp(owner, { name: `Checker ${++checkers}`, default_permissions: { checks: 'write' }, ...more })
  const installation = await expect(201, await owner.post('/user/installations', { app_slug: app.slug }))
  const { token } = await asInstallation(forge, app, installation)
  return Object.assign(new Person(`${app.slug}[bot]`, token, forge), { app })
}

/** Ada has an app with these permissions, and an organization with two private repositories and a public one. */
export async function openInstalled(more: Record<string, unknown> = {}, selected?: string[]) {
  const forge = await withPeople('ada', 'ben')()
  const { ada } = forge
  await forge.organization('acme', ada)
  const repos: Record<string, { id: number }> = {}
  for (const [name, hidden] of [
    ['engine', true],
    ['secret', true],
    ['site', false],
  ] as const) {
    const wanted = { name, private: hidden, auto_init: true }
    repos[name] = await expect(201, await ada.post('/orgs/acme/repos', wanted))
    await expect(201, await ada.post(`/repos/acme/${name}/issues`, { title: 'Smoke' }))
  }
  const app = await registerApp(ada, { public: true, ...more })
  const body = { app_slug: app.slug, ...(selected && { repository_ids: selected.map((name) => repos[name]?.id) }) }
  const installation = await expect(201, await ada.post('/orgs/acme/installations', body))
  return Object.assign(forge, { app, installation, repos })
}
