import type { Account } from '#hosting/people/people.ts'
import type { Permissions } from '#parts/authentication/permissions.ts'
import { isScope } from '#parts/authentication/scopes.ts'
import { createToken, operators } from '#parts/authentication/tokens.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { digest, newToken } from '#platform/secrets.ts'

/** As its owner sees it in a list; the token itself nobody sees again. */
export interface PersonalToken {
  id: number
  note: string | null
  last_eight: string
  scopes: string[]
  permissions: Permissions | null
  /** Names of the chosen ones; null: all that the owner has. */
  repositories: string[] | null
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
      end as repositories
    from tokens t where t.user_id = ${user.id} and t.kind = ${kind} and t.application_id is null
    order by t.created_at desc, t.id desc limit 200`)
}

export interface Wanted {
  note: string
  /** Null: it does not expire. */
  days: number | null
}

/** Returns the token in clear, once. */
export async function createClassicToken(
  db: Transaction,
  user: Account,
  { note, days, scopes }: Wanted & { scopes: string[] },
): Promise<string> {
  checkNote(note)
  const known = scopes.filter(isScope).filter((scope) => scope !== 'site_admin' || user.site_admin)
  const { id, token } = await createToken(db, user, { note, scopes: known })
  await db.query(sql`update tokens set expires_at = ${expiryOf(db, days)} where id = ${id}`)
  return token
}

export interface WantedFineGrained extends Wanted {
  permissions: Permissions
  /** Ids of own repositories; null: all, also those that come later. */
  repositories: number[] | null
}

/** For what the user owns themselves. Returns the token in clear, once. */
export async function createFineGrainedToken(db: Transaction, user: Account, wanted: WantedFineGrained): Promise<string> {
  const { note, days, permissions, repositories } = wanted
  checkNote(note)
  if (repositories?.length === 0) throw fault('repositories', 'Choose at least one repository, or all of them.')
  const token = newToken('bff_')
  const row = await db.first<{ id: number }>(sql`
    insert into tokens (user_id, digest, last_eight, kind, note, scopes, permissions, resource_owner_id, all_repositories, expires_at,
      created_at, updated_at)
    values (${user.id}, ${digest(token)}, ${token.slice(-8)}, 'fine_grained', ${note}, ${[]}::text[], ${JSON.stringify(permissions)}::jsonb,
      ${user.id}, ${repositories === null}, ${expiryOf(db, days)}, ${db.now}, ${db.now})
    returning id`)
  if (!row) throw new Error('a token was not stored')
  if (repositories) await chooseRepositories(db, user, row.id, repositories)
  return token
}

async function chooseRepositories(db: Transaction, user: Account, token_id: number, repositories: number[]) {
  const { rowCount } = await db.query(sql`
    insert into token_repositories (token_id, repo_id)
    select ${token_id}::bigint, id from repositories where owner_id = ${user.id} and id = any(${repositories}::bigint[])`)
  if (rowCount !== new Set(repositories).size) throw fault('repositories', 'One of the repositories is no longer yours.')
}

/** It stops working at once. */
export async function deletePersonalToken(db: Transaction, user: Account, id: number) {
  const { rowCount } = await db.query(
    sql`delete from tokens where id = ${id} and user_id = ${user.id} and application_id is null`,
  )
  if (!rowCount) throw missing()
}

const day = 24 * 3600_000
const expiryOf = (db: Transaction, days: number | null) => (days === null ? null : new Date(db.now.getTime() + days * day))

const fault = (field: string, message: string) => invalid({ resource: 'PersonalToken', code: 'invalid', field, message })

function checkNote(note: string) {
  if (note === '' || note.length > 200) throw fault('note', 'Say in up to 200 characters what the token is for.')
  // A start takes back the token of this name, and would take this one with it.
  if (note === operators) throw fault('note', `The name ${operators} is the operator’s.`)
}
