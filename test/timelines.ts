import type { LoggedEvent } from '#activity/acts.ts'
import { json, sql, type Transaction } from '#platform/database.ts'
import type { Client, Forge } from '#test/forge.ts'

export interface Event {
  id: string
  type: string
  public: boolean
  actor: { login: string }
  repo: { id: number; name: string }
  org?: { login: string }
  payload: Record<string, unknown>
}

/** The events of a timeline, their types, or a sentence for each. */
export const read = async (client: Client, path: string): Promise<Event[]> => client.read(path)
export const types = async (client: Client, path: string) => (await read(client, path)).map(({ type }) => type)
export const tell = async (client: Client, path: string) =>
  (await read(client, path)).map(({ type, actor, repo }) => `${actor.login} ${type} ${repo.name}`)

/** Writes events directly to the log, because acting hundreds of times is slow. */
export async function fillLog({ belfry: { db, clock } }: Forge, repo_id: number, actor_id: number, count: number) {
  const act = { type: 'CreateEvent', payload: { ref: 'x', ref_type: 'tag', master_branch: 'main', description: null } }
  await db.pool.query('select record_events($1, $2, $3, $4)', [
    clock.now(),
    actor_id,
    repo_id,
    JSON.stringify(Array.from({ length: count }, () => act)),
  ])
  db.notifyTransactionEnd('committed here')
}

/** Appends events to the log, and nothing else that follows from acts. */
export async function record(db: Transaction, actor: { id: number }, repo: { id: number }, ...events: LoggedEvent[]) {
  await db.query(sql`select record_events(${db.now}, ${actor.id}, ${repo.id}, ${json(events)}::jsonb)`)
}
