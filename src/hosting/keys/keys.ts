import { recordAudit } from '#activity/audit.ts'
import { publish } from '#activity/publish.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { readPublicKey } from './public-key.ts'

/** A public key of a user, or a deploy key of a repository. */
export interface SshKey {
  id: number
  title: string
  key: string
  fingerprint: string
  read_only: boolean
  created_at: Date
  added_by_login: string | null
  /** The application that added the key for the user. */
  application_name: string | null
}

/** The owner of a key: a user or a repository. */
export type Door = { user: Account } | { repo: Repository }

const at = (door: Door) => ('user' in door ? sql`k.user_id = ${door.user.id}` : sql`k.repo_id = ${door.repo.id}`)

const columns = sql`k.id, k.title, k.key, k.fingerprint, k.read_only, k.created_at, a.login as added_by_login, p.name as application_name`
const joined = sql`ssh_keys k left join accounts a on a.id = k.added_by left join applications p on p.id = k.application_id`
const source = (door: Door) => sql`${joined} where ${at(door)}`

export function listKeys(db: Queryable, door: Door, slice: Slice): Promise<Listed<SshKey>> {
  return listed(db, { columns, source: source(door), order: sql`k.id` }, slice)
}

export async function loadKey(db: Queryable, door: Door, id: number): Promise<SshKey> {
  return db.load<SshKey>(sql`select ${columns} from ${source(door)} and k.id = ${id}`)
}

/** Keys by id, without a check of access: the caller has checked it. */
export function loadKeys(db: Queryable, ids: number[]): Promise<SshKey[]> {
  return db.rows(sql`select ${columns} from ${joined} where k.id = any(${ids})`)
}

export interface NewKey {
  key: string
  title?: string | undefined
  read_only?: boolean | undefined
}

/** The user who adds a key, and the application that acts for the user. Revoking the application's access deletes the key. */
export interface Adder {
  user: Account
  application_id: number | null
}

export async function addKey(db: Transaction, door: Door, adder: Adder, wanted: NewKey): Promise<SshKey> {
  const read = readPublicKey(wanted.key)
  if (!read) throw fault('key is invalid. You must supply a key in OpenSSH public key format')
  const title = wanted.title?.trim() || read.comment.slice(0, 255) || read.fingerprint
  const [user_id, repo_id] = 'user' in door ? [door.user.id, null] : [null, door.repo.id]
  // A key identifies its owner, so it can be added only once.
  const row = await db.first<{ id: number }>(sql`
    insert into ssh_keys (user_id, repo_id, title, key, fingerprint, read_only, added_by, application_id, created_at)
    values (${user_id}, ${repo_id}, ${title}, ${read.key}, ${read.fingerprint}, ${wanted.read_only ?? false}, ${adder.user.id},
      ${adder.application_id}, ${db.now})
    on conflict (fingerprint) do nothing returning id`)
  if (!row) throw fault('key is already in use')
  if ('repo' in door) await publish(db, adder.user, door.repo, { act: 'deploy_key.created', deploy_key_id: row.id })
  else await recordAudit(db, adder.user, 'ssh_key.create', `${door.user.login}: ${title}`)
  return loadKey(db, door, row.id)
}

export async function deleteKey(db: Transaction, door: Door, deleter: { id: number }, id: number) {
  await db.load(sql`select k.id from ssh_keys k where ${at(door)} and k.id = ${id} for update`)
  if ('repo' in door) await publish(db, deleter, door.repo, { act: 'deploy_key.deleted', deploy_key_id: id })
  else await recordAudit(db, deleter, 'ssh_key.delete', `${door.user.login}: key ${id}`)
  await db.query(sql`delete from ssh_keys k where k.id = ${id}`)
}

const fault = (message: string) => invalid({ resource: 'PublicKey', code: 'custom', field: 'key', message })
