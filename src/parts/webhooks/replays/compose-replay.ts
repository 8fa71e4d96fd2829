import type { WebhookEvent } from '#activity/outbox/outbox.ts'
import { referencesOf, writePayload } from '#hosting/payloads/compose-payloads.ts'
import { ghost, MissingRecord, type PayloadContext } from '#hosting/payloads/payload-context.ts'
import { loadReferencedRecords } from '#hosting/payloads/referenced-records.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'

/** An act of the past and its webhook events. */
export interface PastAct {
  repo_id: number
  actor_id: number
  at: Date
  events: WebhookEvent[]
}

export interface ComposedPayload {
  repo_id: number
  event: string
  action: string | null
  body: string
}

/** Writes the payloads of past acts from the records of today, and leaves out those that refer to deleted records. */
export async function composeReplay(db: Queryable, past: PastAct[]): Promise<ComposedPayload[][]> {
  const repos = byId(await readRepositories(db, null, [...new Set(past.map(({ repo_id }) => repo_id))]))
  const ids = [...past.map(({ actor_id }) => actor_id), ...[...repos.values()].map(({ owner_id }) => owner_id)]
  const accounts = byId(await db.rows<Account>(sql`select ${accountColumns} from accounts a where a.id = any(${ids})`))
  const references = past.flatMap(({ events }) => events.map(referencesOf))
  const records = await loadReferencedRecords(db, references)
  return past.map(({ repo_id, actor_id, at, events }) => {
    const repo = repos.get(repo_id)
    if (!repo) return []
    const [sender, owner] = [accounts.get(actor_id) ?? ghost, accounts.get(repo.owner_id) ?? ghost]
    return events.flatMap((event) => {
      const body = tryToWrite(event, { repo, records, at, sender, owner })
      return body === undefined ? [] : { repo_id, event: event.event, action: event.action, body }
    })
  })
}

function byId<Row extends { id: number }>(rows: Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}

function tryToWrite(event: WebhookEvent, context: PayloadContext): string | undefined {
  // A fork that became private is not visible to everyone who sees the repository.
  const forkee = context.records.repositories.get(event.facts.forkee_id ?? 0)
  if (forkee?.private && !context.repo.private) return undefined
  try {
    return writePayload(event, context)
  } catch (error) {
    if (error instanceof MissingRecord) return undefined
    throw error
  }
}
