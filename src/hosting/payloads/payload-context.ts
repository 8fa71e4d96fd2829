import type { Mentioned } from '#hosting/payloads/referenced-records.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'

/** Where something happened, and what it is about. */
export interface Scene {
  repo: Repository
  mentioned: Mentioned
}

/** Stands for somebody who is gone. */
export const ghost = { id: 0, type: 'User', login: 'ghost', site_admin: false, bio: null, email: null } satisfies Person &
  Partial<Account>

/** What an act is about is there when it is told. */
export function named<Row>(rows: Map<number, Row>, id: number): Row {
  const row = rows.get(id)
  if (!row) throw new Error(`what is told of names ${id}, which is not there`)
  return row
}
