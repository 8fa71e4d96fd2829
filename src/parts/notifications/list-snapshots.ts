import type { Database } from '#platform/database.ts'

/** The database snapshot of the list that a user last read from this node, by user id. */
const lists = new WeakMap<Database, Map<number, string>>()
const mostKept = 10_000

/**
 * The API shows times in whole seconds. A client that marks everything up to the time of its newest thread means this thread, but not
 * one that was updated later in the same second. The snapshot of its list tells them apart. Without a snapshot, the thread stays unread.
 */
export function rememberListSnapshot(db: Database, user: { id: number }, snapshot: string) {
  const kept = lists.get(db) ?? new Map<number, string>()
  lists.set(db, kept)
  kept.delete(user.id)
  kept.set(user.id, snapshot)
  if (kept.size <= mostKept) return
  for (const oldest of kept.keys()) return void kept.delete(oldest)
}

export function lastListSnapshot(db: Database, user: { id: number }): string | null {
  return lists.get(db)?.get(user.id) ?? null
}
