import { publish } from '#activity/publish.ts'
import { listCollaborators } from '#hosting/collaborators/collaborators.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { keepAccess, thisOwner, whoOwns } from '#hosting/repositories/watchers.ts'
import { levelOf } from '#identity/access.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { HookTarget } from './hook-target.ts'

/**
 * A hook sends as long as its maker may administer its repository or organization. When the maker loses that access, a trigger pauses the
 * hook (0018_hook_makers.sql) and adds the job that notifies the owners. Setting the hook to active resumes it. A restore pauses all hooks.
 */
export type PausedReason = 'maker_lost_access' | 'maker_suspended' | 'maker_deleted' | 'restored'

/**
 * Locks admin access to the target until the transaction ends, so that a transaction which removes the access afterwards sees the hook.
 * Checks the access again under the lock, because it may have ended since the request was authorized.
 */
export async function lockMakerAccess(db: Transaction, { type, id }: HookTarget, maker: { id: number }) {
  await keepAccess(db, type === 'repository' ? whoOwns({ id }) : thisOwner({ id }))
  const may =
    type === 'repository'
      ? sql`exists (select from repositories r where r.id = ${id} and access_by_name(a.id, r) >= ${levelOf('admin')})`
      : sql`exists (select from memberships m where m.org_id = ${id} and m.user_id = a.id and m.role = 'admin')`
  const { rowCount } = await db.query(sql`
    select from accounts a where a.id = ${maker.id} and a.suspended_at is null and ${may} for share of a`)
  if (!rowCount) throw missing()
}

/** Also deletes the notification about the pause. */
export async function endPause(db: Transaction, { id }: { id: number }) {
  await db.query(sql`update hooks set paused_reason = null, paused_at = null where id = ${id}`)
  await db.query(sql`delete from notification_subjects where hook_id = ${id}`)
}

/** A condition: the hook `h` is paused, and the user may resume it. */
export const pausedFor = (user: { id: number }) => sql`h.paused_reason is not null and h.deleted_at is null and case
  when h.org_id is not null then exists (
    select from memberships m where m.org_id = h.org_id and m.user_id = ${user.id} and m.role = 'admin')
  else exists (select from repositories a where a.id = h.repo_id and access_by_name(${user.id}, a) >= 5) end`

type Paused = Record<'repo_id' | 'org_id' | 'creator_id', number | null> & { url: string }

/** Notifies the users who can resume the hook, once. */
export async function notifyPaused(db: Transaction, hook_id: number) {
  const hook = await db.first<Paused>(sql`
    update hooks set paused_at = ${db.now}
    where id = ${hook_id} and paused_reason is not null and paused_at is null and deleted_at is null
    returning repo_id, org_id, url, creator_id`)
  const repo_id = hook && (hook.repo_id ?? (await findOldestRepository(db, hook.org_id)))
  if (!repo_id) return
  const people = hook.org_id === null ? await findAdmins(db, repo_id) : await findOwners(db, hook.org_id)
  const title = `Webhook to ${URL.parse(hook.url)?.host || hook.url} is paused`
  await publish(db, { id: hook.creator_id ?? 0 }, { id: repo_id }, { act: 'hook.paused', hook_id, title, people })
}

/** A notification thread needs a repository, so an organization's hook uses the oldest. Without repositories, nothing is sent anyway. */
async function findOldestRepository(db: Queryable, org_id: number | null): Promise<number | undefined> {
  const row = await db.first<{ id: number }>(sql`select id from repositories where owner_id = ${org_id} order by id limit 1`)
  return row?.id
}

const most = 1000

async function findAdmins(db: Queryable, repo_id: number): Promise<number[]> {
  const [repo] = await readRepositories(db, null, [repo_id])
  if (!repo) return []
  const { rows } = await listCollaborators(db, repo, levelOf('admin'), { limit: most, offset: 0 })
  return rows.map(({ id }) => id)
}

async function findOwners(db: Queryable, org_id: number): Promise<number[]> {
  const rows = await db.rows<{ user_id: number }>(sql`
    select user_id from memberships where org_id = ${org_id} and role = 'admin' order by user_id limit ${most}`)
  return rows.map(({ user_id }) => user_id)
}
