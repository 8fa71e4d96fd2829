import type { Account } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { SealedColumn } from '#platform/sealed-columns.ts'
import { digest, randomText } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'

/**
 * `flash`: a result that one page shows once. `draft`: an unsent form, shown until it expires. `sign_in`: a link that opens a session once.
 * `export`: a download that begins once.
 */
type Kind = 'flash' | 'draft' | 'sign_in' | 'export'

const minutes: Record<Kind, number> = { flash: 5, draft: 60, sign_in: 24 * 60, export: 10 }

/** The maximum number of rows per user; the oldest are deleted first. */
const mostKept = 20

type Owner = Pick<Account, 'id'>

const contextOf = (kind: Kind, { id }: Owner) => `${kind} ${id}`

export const sealedColumns: SealedColumn[] = [
  {
    table: 'page_states',
    column: 'content',
    id: 'id',
    owner: 'user_id',
    // A row does not say of which kind it is.
    contextsOf: (id) => (Object.keys(minutes) as Kind[]).map((kind) => contextOf(kind, { id })),
  },
]

/** Stores `content` for a later page of the same user. Returns the key for the address. */
export async function keepState(db: Queryable, vault: Vault, user: Owner, kind: Kind, content: unknown): Promise<string> {
  const key = randomText(30)
  const sealed = vault.seal(JSON.stringify(content), contextOf(kind, user))
  await db.query(sql`
    insert into page_states (digest, user_id, content, expires_at)
    values (${digest(`${kind} ${key}`)}, ${user.id}, ${sealed}, ${db.now}::timestamptz + ${minutes[kind]} * interval '1 minute')`)
  await db.query(sql`
    delete from page_states where expires_at <= ${db.now}
      or id in (select id from page_states where user_id = ${user.id} order by id desc offset ${mostKept})`)
  return key
}

/** Returns the content once; a second call returns undefined. */
export async function takeState<T>(db: Queryable, vault: Vault, user: Owner, kind: Kind, key: string): Promise<T | undefined> {
  const row = await db.first<{ content: Buffer }>(sql`
    delete from page_states where digest = ${digest(`${kind} ${key}`)} and user_id = ${user.id} and expires_at > ${db.now}
    returning content`)
  return row && (JSON.parse(vault.open(row.content, contextOf(kind, user))) as T)
}

export async function readState<T>(db: Queryable, vault: Vault, user: Owner, kind: Kind, key: string): Promise<T | undefined> {
  const row = await db.first<{ content: Buffer }>(sql`
    select content from page_states where digest = ${digest(`${kind} ${key}`)} and user_id = ${user.id} and expires_at > ${db.now}`)
  return row && (JSON.parse(vault.open(row.content, contextOf(kind, user))) as T)
}

/** Who signs in with the key of a link. A second call returns undefined. */
export async function takeSignIn(db: Queryable, key: string): Promise<number | undefined> {
  const row = await db.first<{ user_id: number }>(sql`
    delete from page_states where digest = ${digest(`sign_in ${key}`)} and expires_at > ${db.now} returning user_id`)
  return row?.user_id
}
