import { type Queryable, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import type { Vault } from '#platform/vault.ts'

/** Who we say we are to a source. */
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

/** Sealed for one import: moved to another, they do not open. */
export function sealCredentials(vault: Vault, import_id: number, credentials: Credentials): Buffer | null {
  const { username, password } = credentials
  return username === null && password === null ? null : vault.seal(JSON.stringify({ username, password }), contextOf(import_id))
}

export function openCredentials(vault: Vault, sealed: { id: number; credentials: Buffer | null }): Credentials {
  return sealed.credentials ? JSON.parse(vault.open(sealed.credentials, contextOf(sealed.id))) : noCredentials
}

/** What is named replaces what there was. A line's end would be the end of what a tool reads as the password. */
export function readCredentials({ vcs_username, vcs_password }: GivenCredentials, present: Credentials): Credentials {
  for (const [field, text] of Object.entries({ vcs_username, vcs_password })) {
    if (text !== undefined && /\p{Cc}/u.test(text)) {
      const message = `${field} must not hold control characters`
      throw invalid({ resource: 'Import', code: 'custom', field, message })
    }
  }
  return { username: vcs_username ?? present.username, password: vcs_password ?? present.password }
}

/** Nobody came back for a day: whoever goes on says again who they are. */
export async function eraseOldCredentials(db: Queryable) {
  await db.query(sql`
    update imports set credentials = null
    where credentials is not null and not active and updated_at < ${db.now}::timestamptz - interval '1 day'`)
}
