import { recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { digest, newToken, sameSecret, tokenFrom } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'

/** The token in a user's list of feeds. It is derived from the account's id, and is valid as long as the account exists. */
export function permanentToken(vault: Vault, user: Pick<Account, 'id'>): string {
  return tokenFrom('bfd_', vault.derive(`feeds of user ${user.id}`))
}

/** Whether the token opens this user's private feeds: their permanent token, or that of one of their keys. */
export async function isFeedToken(db: Queryable, vault: Vault, user: Account, token: string): Promise<boolean> {
  if (sameSecret(token, permanentToken(vault, user))) return true
  const key = await db.first<Pick<FeedKey, 'id' | 'last_used_at'>>(sql`
    select id, last_used_at from feed_keys where digest = ${digest(token)} and user_id = ${user.id}`)
  if (!key) return false
  if (!key.last_used_at || db.now.getTime() - key.last_used_at.getTime() > 60_000) {
    await db.query(sql`update feed_keys set last_used_at = ${db.now} where id = ${key.id}`)
  }
  return true
}

/** The user whose key has this token. */
export async function findKeyOwner(db: Queryable, token: string): Promise<{ id: number } | undefined> {
  return db.first(sql`
    select k.user_id as id from feed_keys k join accounts a on a.id = k.user_id
    where k.digest = ${digest(token)} and a.suspended_at is null`)
}

/** A named token that can be revoked by itself. */
export interface FeedKey {
  id: number
  name: string
  last_eight: string
  created_at: Date
  last_used_at: Date | null
}

const columns = sql`k.id, k.name, k.last_eight, k.created_at, k.last_used_at`

export const maxKeys = 50

export function listFeedKeys(db: Queryable, user: Account, slice: Slice): Promise<Listed<FeedKey>> {
  return listed(db, { columns, source: sql`feed_keys k where k.user_id = ${user.id}`, order: sql`k.id` }, slice)
}

export async function loadFeedKey(db: Queryable, user: Account, id: number): Promise<FeedKey> {
  const found = await db.first<FeedKey>(sql`select ${columns} from feed_keys k where k.user_id = ${user.id} and k.id = ${id}`)
  if (!found) throw missing()
  return found
}

/** Returns the token, of which only a digest is stored. */
export async function createFeedKey(db: Transaction, user: Account, wanted: string): Promise<{ key: FeedKey; token: string }> {
  const name = wanted.trim()
  if (name === '' || name.length > 200) throw fault('name', 'Say in up to 200 characters what the key is for.')
  // A lock, so that two concurrent requests cannot both create the last key.
  await db.query(sql`select from accounts where id = ${user.id} for no key update`)
  const count = await db.first<{ total: number }>(sql`select count(*) as total from feed_keys where user_id = ${user.id}`)
  if ((count?.total ?? 0) >= maxKeys) throw fault('name', `You have ${maxKeys} keys, the maximum. Revoke one first.`)
  const token = newToken('bfd_')
  const key = await db.first<FeedKey>(sql`
    insert into feed_keys as k (user_id, name, digest, last_eight, created_at)
    values (${user.id}, ${name}, ${digest(token)}, ${token.slice(-8)}, ${db.now}) returning ${columns}`)
  if (!key) throw new Error('a feed key was not stored')
  await recordAudit(db, user, 'feed_key.create', `${user.login}: ${name}`)
  return { key, token }
}

export async function deleteFeedKey(db: Transaction, user: Account, id: number) {
  const { rowCount } = await db.query(sql`delete from feed_keys where user_id = ${user.id} and id = ${id}`)
  if (!rowCount) throw missing()
  await recordAudit(db, user, 'feed_key.delete', `${user.login}: key ${id}`)
}

const fault = (field: string, message: string) => invalid({ resource: 'FeedKey', code: 'custom', field, message })
