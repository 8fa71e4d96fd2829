import type { Database } from '#platform/database.ts'

/** The snapshot of the database that a person's list was last read from here, by the person's id. */
const lists = new WeakMap<Database, Map<number, string>>()
const mostKept = 10_000

/**
 * Moments are told in whole seconds. A client that marks what it has read up to the moment of its newest thread means that one too, and
 * not what was updated later in that second: so we remember what its list showed. Where that is not known, the thread stays unread.
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
