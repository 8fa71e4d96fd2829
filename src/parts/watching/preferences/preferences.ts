import { type Queryable, sql } from '#platform/database.ts'

/** Which repositories a user watches without having chosen to. */
export interface WatchingPreferences {
  watches_created: boolean
  watches_given: boolean
}

export async function findPreferences(db: Queryable, user: { id: number }): Promise<WatchingPreferences> {
  const found = await db.first<WatchingPreferences>(
    sql`select watches_created, watches_given from watching_preferences where user_id = ${user.id}`,
  )
  return found ?? { watches_created: true, watches_given: true }
}

/** Repositories that the user watches already stay watched. */
export async function savePreferences(db: Queryable, user: { id: number }, wanted: WatchingPreferences) {
  await db.query(sql`
    insert into watching_preferences (user_id, watches_created, watches_given)
    values (${user.id}, ${wanted.watches_created}, ${wanted.watches_given})
    on conflict (user_id) do update set watches_created = excluded.watches_created, watches_given = excluded.watches_given`)
}
