import { createSign } from 'node:crypto'
import { Client, expect, type Forge, type Person } from './forge.ts'

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
