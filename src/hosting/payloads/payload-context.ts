import { unknownAddress } from '#activity/outbox/addresses.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { firstVersion, type Wire } from '#http/serialization.ts'
import type { Account, Person } from '#identity/accounts.ts'
import type { ReferencedRecords } from './referenced-records.ts'

/** What a payload function reads besides the facts of the act. */
export interface PayloadContext extends Actors {
  repo: Repository
  records: ReferencedRecords
  /** When the act happened. */
  at: Date
}

export interface Actors {
  sender: Person
  owner: Pick<Account, 'id' | 'type' | 'login' | 'bio' | 'email'>
}

/** Payloads are written before the public address of the server is known, see activity/outbox/addresses.ts. */
export const unaddressed: Wire = {
  web: unknownAddress,
  api: `${unknownAddress}/api/v3`,
  version: firstVersion,
  brand: 'github',
}

/** Stands for a deleted account. */
export const ghost = { id: 0, type: 'User', login: 'ghost', site_admin: false, bio: null, email: null } satisfies Person &
  Partial<Account>

/** An act refers to a record that does not exist. A replay skips it, because records may be deleted after the act. */
export class MissingRecord extends Error {}

export function mustGet<Row>(rows: Map<number, Row>, id: number | null | undefined): Row {
  const row = rows.get(id ?? 0)
  if (!row) throw new MissingRecord(`the payload refers to record ${id}, which does not exist`)
  return row
}
