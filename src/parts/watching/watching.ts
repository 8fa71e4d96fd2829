import { listRepositoryNames, type Repository, type RepositoryName } from '#hosting/repositories/repositories.ts'
import { keepAccess, whoOwns } from '#hosting/repositories/watchers.ts'
import { type Account, type Person, personColumns, type Viewer } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { Listed, Slice } from '#platform/listed.ts'

/** Types of subjects that a watcher may choose, by how the inbox names them. */
export const watchedKinds = ['Issue', 'PullRequest', 'Release', 'Commit'] as const

export type WatchedKind = (typeof watchedKinds)[number]

/** A user's decision to watch or to ignore a repository. */
export interface Subscription {
  subscribed: boolean
  ignored: boolean
  /** What the user is notified of besides threads that concern them; null for everything. */
  kinds: WatchedKind[] | null
  created_at: Date
}

export async function findSubscription(db: Queryable, user: Account, repo: Repository): Promise<Subscription | undefined> {
  return db.first(sql`
    select not ignored as subscribed, ignored, kinds, created_at from subscriptions where user_id = ${user.id} and repo_id = ${repo.id}`)
}

/** Ignoring wins over watching. Neither of them ends the subscription. */
export async function setSubscription(
  db: Transaction,
  user: Account,
  repo: Repository,
  { subscribed = true, ignored = false, kinds = null }: Partial<Omit<Subscription, 'created_at'>>,
): Promise<Subscription> {
  if (!subscribed && !ignored) {
    await endSubscription(db, user, repo)
    return { subscribed, ignored, kinds: null, created_at: db.now }
  }
  // Locks access, so that a user who loses it at the same time gets 404 and does not keep watching.
  await keepAccess(db, whoOwns(repo))
  const set = await db.first<Subscription>(sql`
    insert into subscriptions as s (user_id, repo_id, ignored, kinds, created_at)
    select ${user.id}, r.id, ${ignored}, ${ignored ? null : kinds}::text[], ${db.now} from repositories r where r.id = ${repo.id} and access_of(${user.id}, r) > 0
    on conflict (user_id, repo_id) do update set ignored = excluded.ignored, kinds = excluded.kinds
    returning not s.ignored as subscribed, s.ignored, s.kinds, s.created_at`)
  if (!set) throw missing()
  return set
}

export async function endSubscription(db: Transaction, user: Account, repo: Repository) {
  // Locked before the row, in the same order as when many subscriptions end at once.
  await keepAccess(db, whoOwns(repo))
  await db.query(sql`delete from subscriptions where user_id = ${user.id} and repo_id = ${repo.id}`)
}

export interface Watcher extends Person {
  watched_at: Date
}

/** Oldest first. */
export async function listWatchers(db: Queryable, repo: Repository, { limit, offset }: Slice): Promise<Listed<Watcher>> {
  const rows = await db.genericPlanRows<Watcher>(sql`
    select ${personColumns}, s.created_at as watched_at
    from (select user_id, created_at from subscriptions where repo_id = ${repo.id} and not ignored
      order by created_at, user_id limit ${limit} offset ${offset}) s
    join accounts a on a.id = s.user_id order by s.created_at, s.user_id`)
  return { rows, total: repo.subscribers_count }
}

/** The watched repositories of a user that the viewer may see. */
export function listWatched(db: Queryable, viewer: Viewer, user: Account, slice: Slice): Promise<Listed<RepositoryName>> {
  return listRepositoryNames(db, viewer, sql`s.user_id = ${user.id} and not s.ignored`, sql`s.repo_id`, slice, {
    among: sql`subscriptions s`,
    indexed: true,
  })
}
