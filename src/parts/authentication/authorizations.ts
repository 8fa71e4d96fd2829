import { recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { type Application, type ClientCredentials, findClient, loadApplication } from '#identity/clients.ts'
import { isScope, normaliseScopes } from '#identity/scopes.ts'
import { createToken, operators, type Token } from '#identity/tokens.ts'
import { type Grant, recordGrant, revokeGrant } from '#parts/oauth/grants.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { type Static, Type } from '#platform/schema.ts'

type App = Pick<Application, 'name' | 'url' | 'client_id'>

/** A token with its application, unless it is a personal one. */
interface AuthorizationRow extends Token {
  app: App | null
}

const app = sql`case when p.id is not null then json_build_object('name', p.name, 'url', p.url, 'client_id', p.client_id) end as app`
const columns = sql`t.*, ${app}`

/** The tokens that users manage as authorizations. Fine-grained tokens have no scopes, and impersonation tokens belong to the site admin. */
const ownTokens = (user: Account) => sql`
  tokens t left join applications p on p.id = t.application_id
  where t.user_id = ${user.id} and t.kind in ('classic', 'oauth') and not t.impersonation`

export function listAuthorizations(
  db: Queryable,
  user: Account,
  client_id: string,
  slice: Slice,
): Promise<Listed<AuthorizationRow>> {
  const source = sql`${ownTokens(user)} and (${client_id}::text = '' or p.client_id = ${client_id})`
  return listed(db, { columns, source, order: sql`t.id` }, slice)
}

export async function loadAuthorization(db: Queryable, user: Account, id: number): Promise<AuthorizationRow> {
  const found = await db.first<AuthorizationRow>(sql`select ${columns} from ${ownTokens(user)} and t.id = ${id}`)
  if (!found) throw missing()
  return found
}

const ScopeNames = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })
const Note = Type.Optional(Type.String({ maxLength: 255 }))
export const Fingerprint = Type.Optional(Type.String({ maxLength: 255 }))

export const NewAuthorization = Type.Object({
  scopes: Type.Optional(Type.Unsafe<string[] | null>({ ...ScopeNames, type: ['array', 'null'] })),
  note: Note,
  note_url: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 500 })),
})
export type NewAuthorization = Static<typeof NewAuthorization> & { fingerprint?: string }

/** Apps have permissions instead of scopes, so users authorize them by OAuth only. */
export async function loadClient(db: Database, credentials: ClientCredentials): Promise<Application> {
  const application = await findClient(db, credentials)
  if (!application || application.app) throw new Refusal('invalid', 'Invalid Application client_id or secret.')
  return application
}

/** A personal token or, if an application is given, a token for it. Returns the clear text, which is not stored. */
export async function createAuthorization(
  db: Transaction,
  user: Account,
  application: Application | null,
  wanted: NewAuthorization,
): Promise<AuthorizationRow & { token: string }> {
  const { note_url = null } = wanted
  const [note, fingerprint] = [wanted.note || null, wanted.fingerprint || null]
  const scopes = wanted.scopes ?? []
  checkScopes(scopes)
  if (!note && !application) throw invalid({ resource: 'OauthAccess', code: 'missing_field', field: 'description' })
  const application_id = application?.id ?? null
  checkNote(note)
  await checkUnused(db, user, { id: null, application_id, note, fingerprint })
  if (application) await recordGrant(db, application, user, scopes)
  const token = await createToken(db, user, { note, note_url, fingerprint, scopes, application_id })
  await recordAudit(db, user, 'token.create', `${user.login}: ${note ?? application?.name}`)
  return { ...token, app: application }
}

/** The existing token of a user for an application with this fingerprint. Its clear text is not stored. */
export async function findAuthorization(
  db: Transaction,
  user: Account,
  application: Application,
  fingerprint: string | null,
): Promise<AuthorizationRow | undefined> {
  await lock(db, user)
  return db.first<AuthorizationRow>(sql`
    select ${columns} from ${ownTokens(user)} and t.application_id = ${application.id} and t.fingerprint is not distinct from ${fingerprint}
    order by t.id limit 1`)
}

export const AuthorizationChanges = Type.Object({
  scopes: NewAuthorization.properties.scopes,
  add_scopes: Type.Optional(ScopeNames),
  remove_scopes: Type.Optional(ScopeNames),
  note: Note,
  note_url: Type.Optional(Type.String({ maxLength: 500 })),
  fingerprint: Fingerprint,
})
type AuthorizationChanges = Static<typeof AuthorizationChanges>

export async function updateAuthorization(
  db: Transaction,
  user: Account,
  id: number,
  changes: AuthorizationChanges,
): Promise<AuthorizationRow> {
  await lock(db, user)
  const token = await loadAuthorization(db, user, id)
  const scopes = changedScopes(token.scopes, changes)
  const next = { ...token, ...pick(changes) }
  if (!next.note && !token.app) {
    throw invalid({ resource: 'OauthAccess', code: 'missing_field', field: 'description' })
  }
  if (token.note !== next.note) for (const note of [token.note, next.note]) checkNote(note)
  await checkUnused(db, user, next)
  await db.query(sql`
    update tokens set scopes = ${scopes}, note = ${next.note}, note_url = ${next.note_url}, fingerprint = ${next.fingerprint},
      updated_at = ${db.now} where id = ${id}`)
  if (token.app) await recordGrant(db, await loadApplication(db, token.app.client_id), user, scopes)
  await recordAudit(db, user, 'token.update', `${user.login}: ${next.note ?? `token ${id}`}`)
  return loadAuthorization(db, user, id)
}

function pick({ note, note_url, fingerprint }: AuthorizationChanges) {
  return {
    ...(note !== undefined && { note: note || null }),
    ...(note_url !== undefined && { note_url: note_url || null }),
    ...(fingerprint !== undefined && { fingerprint: fingerprint || null }),
  }
}

function changedScopes(held: string[], { scopes, add_scopes, remove_scopes }: AuthorizationChanges): string[] {
  const ways = [scopes, add_scopes, remove_scopes].filter((way) => way !== undefined)
  if (ways.length > 1) {
    const message = 'Only one of scopes, add_scopes and remove_scopes can be sent.'
    throw invalid({ resource: 'OauthAccess', code: 'custom', field: 'scopes', message })
  }
  for (const way of ways) checkScopes(way ?? [])
  if (scopes !== undefined) return normaliseScopes(scopes ?? [])
  if (add_scopes) return normaliseScopes([...held, ...add_scopes])
  return held.filter((scope) => !remove_scopes?.includes(scope))
}

export async function deleteAuthorization(db: Transaction, user: Account, id: number) {
  const { id: found } = await loadAuthorization(db, user, id)
  await db.query(sql`delete from tokens where id = ${found}`)
  await recordAudit(db, user, 'token.delete', `${user.login}: token ${id}`)
}

function checkScopes(scopes: readonly string[]) {
  const unknown = scopes.filter((scope) => !isScope(scope))
  if (!unknown.length) return
  const message = `there is no scope ${unknown.join(', ')}`
  throw invalid({ resource: 'OauthAccess', code: 'invalid', field: 'scopes', message })
}

/** A start finds and replaces the operator's token by its note, so no other token may have that note. */
function checkNote(note: string | null) {
  if (note === operators) throw invalid({ resource: 'OauthAccess', code: 'already_exists', field: 'description' })
}

/** Notes and fingerprints are unique among a user's tokens for an application, and among the user's personal tokens. */
async function checkUnused(
  db: Transaction,
  user: Account,
  { id, application_id, note, fingerprint }: { id: number | null } & Pick<Token, 'application_id' | 'note' | 'fingerprint'>,
) {
  await lock(db, user)
  const taken = await db.first<{ note: boolean | null; fingerprint: boolean | null }>(sql`
    select bool_or(t.note = ${note}) as note, bool_or(t.fingerprint = ${fingerprint}) as fingerprint
    from ${ownTokens(user)} and t.application_id is not distinct from ${application_id} and t.id is distinct from ${id}`)
  const fields = [...(taken?.note ? ['description'] : []), ...(taken?.fingerprint ? ['fingerprint'] : [])]
  if (fields.length) {
    throw invalid(...fields.map((field) => ({ resource: 'OauthAccess', code: 'already_exists' as const, field })))
  }
}

/** Concurrent calls must not both find a note free. */
async function lock(db: Transaction, user: Account) {
  await db.query(sql`select from accounts where id = ${user.id} for no key update`)
}

/** A user's grant to an application. */
export type GrantedApplication = Grant & { application_id: number; app: App }

const grantsOf = (user: Account) => sql`grants g join applications p on p.id = g.application_id where g.user_id = ${user.id}`

export function listGrants(db: Queryable, user: Account, client_id: string, slice: Slice): Promise<Listed<GrantedApplication>> {
  const source = sql`${grantsOf(user)} and (${client_id}::text = '' or p.client_id = ${client_id})`
  return listed(db, { columns: sql`g.*, ${app}`, source, order: sql`g.id` }, slice)
}

export async function loadGrant(db: Queryable, user: Account, id: number): Promise<GrantedApplication> {
  const found = await db.first<GrantedApplication>(sql`select g.*, ${app} from ${grantsOf(user)} and g.id = ${id}`)
  if (!found) throw missing()
  return found
}

/** Revokes the application's access. */
export async function deleteGrant(db: Transaction, user: Account, id: number) {
  const { application_id } = await loadGrant(db, user, id)
  await revokeGrant(db, { id: application_id }, user, user)
}
