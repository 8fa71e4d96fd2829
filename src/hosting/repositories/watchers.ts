import type { Person } from '#hosting/people/people.ts'
import { sql, type Transaction } from '#platform/database.ts'

/** Watches for someone who comes to work here; who has made up their mind before is left alone. */
export async function watch(db: Transaction, user: Pick<Person, 'id'>, repo: { id: number }) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at) values (${user.id}, ${repo.id}, ${db.now}) on conflict do nothing`)
}
