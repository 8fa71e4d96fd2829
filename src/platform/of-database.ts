import type { Database } from './database.ts'

/** What this process remembers of each database, made on first use and again after the database was put back into an earlier state. */
export function ofDatabase<T extends object>(make: () => T): (db: Database) => T {
  const made = new WeakMap<Database, T>()
  return (db) => {
    const known = made.get(db)
    if (known) return known
    const value = make()
    made.set(db, value)
    const off = db.onRewound(() => {
      made.delete(db)
      off()
    })
    return value
  }
}
