import { recordAudit } from '#activity/audit.ts'
import { lockMembership } from '#hosting/organizations/organizations.ts'
import type { Account } from '#identity/accounts.ts'
import { type Over, type Permissions, permissionNames } from '#identity/permissions.ts'
import { isScope } from '#identity/scopes.ts'
import { createToken, operators } from '#identity/tokens.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { digest, newToken } from '#platform/secrets.ts'

/** A token in the owner's list, without its clear text. */
export interface PersonalToken {
  id: number
  note: string | null
  last_eight: string
  scopes: string[]
  permissions: Permissions | null
  /** Names of the selected repositories; null: all of the resource owner's. */
  repositories: string[] | null
  /** For fine-grained tokens. */
  resource_owner: string | null
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
}

type Kind = 'classic' | 'fine_grained'

export function listPersonalTokens(db: Queryable, user: Account, kind: Kind): Promise<PersonalToken[]> {
  return db.rows<PersonalToken>(sql`
    select t.id, t.note, t.last_eight, t.scopes, t.permissions, t.created_at, t.expires_at, t.last_used_at,
      case when not t.all_repositories then array(
        select r.name from token_repositories c join repositories r on r.id = c.repo_id where c.token_id = t.id order by lower(r.name))
      end as repositories,
      (select o.login from accounts o where o.id = t.resource_owner_id) as resource_owner
    from tokens t where t.user_id = ${user.id} and t.kind = ${kind} and t.application_id is null
    order by t.created_at desc, t.id desc limit 200`)
}

export interface Wanted {
  note: string
  /** Null: it does not expire. */
  days: number | null
}

/** Returns the token in clear text, which is not stored. */
export async function createClassicToken(
  db: Transaction,
  user: Account,
  { note, days, scopes }: Wanted & { scopes: string[] },
): Promise<string> {
  checkNote(note)
  const known = scopes.filter(isScope).filter((scope) => scope !== 'site_admin' || user.site_admin)
  const { id, token } = await createToken(db, user, { note, scopes: known })
  await db.query(sql`update tokens set expires_at = ${expiryOf(db, days)} where id = ${id}`)
  await recordAudit(db, user, 'token.create', `${user.login}: ${note}`)
  return token
}

export interface WantedFineGrained extends Wanted {
  /** The user, or an organization that they belong to. */
  owner?: Account
  permissions: Permissions
  /** Ids of the owner's repositories; null: all, including later ones. */
  repositories: number[] | null
}

/** For repositories of the user or one of their organizations. Returns the token in clear text, which is not stored. */
export async function createFineGrainedToken(db: Transaction, user: Account, wanted: WantedFineGrained): Promise<string> {
  const { owner = user, note, days, repositories } = wanted
  checkNote(note)
  if (owner.id !== user.id && !(await lockMembership(db, owner, user))) throw missing()
  const permissions = permissionsOver(owner, wanted.permissions)
  if (repositories?.length === 0) throw fault('repositories', 'Choose at least one repository, or all of them.')
  const token = newToken('bff_')
  const row = await db.first<{ id: number }>(sql`
    insert into tokens (user_id, digest, last_eight, kind, note, scopes, permissions, resource_owner_id, all_repositories, expires_at,
      created_at, updated_at)
    values (${user.id}, ${digest(token)}, ${token.slice(-8)}, 'fine_grained', ${note}, ${[]}::text[], ${JSON.stringify(permissions)}::jsonb,
      ${owner.id}, ${repositories === null}, ${expiryOf(db, days)}, ${db.now}, ${db.now})
    returning id`)
  if (!row) throw new Error('a token was not stored')
  if (repositories) await chooseRepositories(db, user, owner, row.id, repositories)
  await recordAudit(db, user, 'token.create', `${user.login}: ${note}`)
  return token
}

/** Only tokens for the user's own account have permissions on the account, only tokens for an organization those on the organization. */
function permissionsOver(owner: Account, permissions: Permissions): Permissions {
  const names: readonly string[] = offeredPermissions(owner).flatMap((over) => permissionNames[over])
  return Object.fromEntries(Object.entries(permissions).filter(([name]) => names.includes(name)))
}

export function offeredPermissions(owner: Account): Over[] {
  return ['repository', owner.type === 'Organization' ? 'organization' : 'account']
}

async function chooseRepositories(db: Transaction, user: Account, owner: Account, token_id: number, repositories: number[]) {
  const { rowCount } = await db.query(sql`
    insert into token_repositories (token_id, repo_id)
    select ${token_id}::bigint, r.id from repositories r
    where r.owner_id = ${owner.id} and r.id = any(${repositories}::bigint[]) and access_of(${user.id}, r) > 0`)
  if (rowCount !== new Set(repositories).size) {
    throw fault('repositories', `One of the repositories no longer belongs to ${owner.login}, or you cannot see it any more.`)
  }
}

export async function deletePersonalToken(db: Transaction, user: Account, id: number) {
  const { rowCount } = await db.query(
    sql`delete from tokens where id = ${id} and user_id = ${user.id} and application_id is null`,
  )
  if (!rowCount) throw missing()
  await recordAudit(db, user, 'token.delete', `${user.login}: token ${id}`)
}

const day = 24 * 3600_000
const expiryOf = (db: Transaction, days: number | null) => (days === null ? null : new Date(db.now.getTime() + days * day))

const fault = (field: string, message: string) => invalid({ resource: 'PersonalToken', code: 'invalid', field, message })

function checkNote(note: string) {
  if (note === '' || note.length > 200) throw fault('note', 'Say in up to 200 characters what the token is for.')
  // A start deletes the tokens with the note of the operator's token.
  if (note === operators) throw fault('note', `The name ${operators} is the operator’s.`)
}
