import { type Queryable, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import type { SealedColumn } from '#platform/sealed-columns.ts'
import type { Vault } from '#platform/vault.ts'

export interface Credentials {
  username: string | null
  password: string | null
}

export interface GivenCredentials {
  vcs_username?: string | undefined
  vcs_password?: string | undefined
}

export const noCredentials: Credentials = { username: null, password: null }

const contextOf = (import_id: number) => `import ${import_id}`

export const sealedColumns: SealedColumn[] = [
  { table: 'imports', column: 'credentials', id: 'id', owner: 'id', contextsOf: (id) => [contextOf(id)] },
]

/** Sealed for one import; they do not open for another. */
export function sealCredentials(vault: Vault, import_id: number, credentials: Credentials): Buffer | null {
  const { username, password } = credentials
  return username === null && password === null ? null : vault.seal(JSON.stringify({ username, password }), contextOf(import_id))
}

export function openCredentials(vault: Vault, sealed: { id: number; credentials: Buffer | null }): Credentials {
  return sealed.credentials ? JSON.parse(vault.open(sealed.credentials, contextOf(sealed.id))) : noCredentials
}

/**
 * The given values replace the former ones. Control characters are refused, because a line end would cut off the password that a tool
 * reads.
 */
export function readCredentials({ vcs_username, vcs_password }: GivenCredentials, present: Credentials): Credentials {
  for (const [field, text] of Object.entries({ vcs_username, vcs_password })) {
    if (text !== undefined && /\p{Cc}/u.test(text)) {
      const message = `${field} must not hold control characters`
      throw invalid({ resource: 'Import', code: 'custom', field, message })
    }
  }
  return { username: vcs_username ?? present.username, password: vcs_password ?? present.password }
}

/** Erases the credentials of imports that have waited for a day. */
export async function eraseOldCredentials(db: Queryable) {
  await db.query(sql`
    update imports set credentials = null
    where credentials is not null and not active and updated_at < ${db.now}::timestamptz - interval '1 day'`)
}
