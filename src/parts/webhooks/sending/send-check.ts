import { type Database, sql } from '#platform/database.ts'
import { patiently } from './outages.ts'
import { notSentOutcome, type Outcome } from './outcomes.ts'

interface Checked {
  id: number
  hook_id: number
  url: string
}

/** What to do with a delivery: send it, record that it was not sent, or forget it, because its row or the right to it is gone. */
type Verdict = 'send' | 'record' | 'forget'

/** The app of the payload's installation may know the repository. Events about the installation itself are sent after its end, too. */
const appMayKnow = sql`(h.app_id is null or u.event like 'installation%' or exists (
  select from payloads p left join installations i on i.id = p.installation_id
  where p.id = u.payload_id and (p.installation_id is null or (
    i.suspended_at is null and app_is_enabled(i.app_id) and not exists (
      select from repositories r where r.id = u.repo_id and (r.owner_id <> i.account_id or not (i.all_repositories or exists (
        select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id))))))))`

/**
 * Decides immediately before a delivery is sent, because the hook may have become inactive while the delivery waited: its creator lost access,
 * for example. One query decides for all deliveries that were asked for while the query before was running.
 */
export class SendCheck {
  readonly #db: Database
  #asked = new Map<number, PromiseWithResolvers<Verdict>>()
  #busy = false

  constructor(db: Database) {
    this.#db = db
  }

  /** During an outage of the database, the check is repeated as long as the delivery is `wanted`. */
  async check(delivery: Checked, wanted: () => boolean): Promise<'send' | Outcome | undefined> {
    const verdict = await patiently(() => this.#ask(delivery.id), wanted)
    if (verdict === 'forget') return undefined
    return verdict === 'send' ? 'send' : notSentOutcome(delivery, this.#db.now)
  }

  #ask(id: number): Promise<Verdict> {
    const answer = this.#asked.get(id) ?? Promise.withResolvers<Verdict>()
    this.#asked.set(id, answer)
    if (!this.#busy) void this.#answerAll()
    return answer.promise
  }

  async #answerAll() {
    this.#busy = true
    while (this.#asked.size) {
      // Deliveries that start in the same turn of the event loop share a query.
      await undefined
      const asked = this.#asked
      this.#asked = new Map()
      try {
        const verdicts = await this.#read([...asked.keys()])
        for (const [id, { resolve }] of asked) resolve(verdicts.get(id) ?? 'forget')
      } catch (error) {
        for (const { reject } of asked.values()) reject(error)
      }
    }
    this.#busy = false
  }

  async #read(ids: number[]): Promise<Map<number, Verdict>> {
    const rows = await this.#db.genericPlanRows<{ id: number; open: boolean; known: boolean }>(sql`
      select u.id, h.active or u.requested as open, ${appMayKnow} as known
      from pending_deliveries u join hooks h on h.id = u.hook_id where u.id = any(${ids})`)
    // An app could read the payload of a recorded delivery.
    const unknown = rows.flatMap(({ id, known }) => (known ? [] : id))
    if (unknown.length) await this.#db.query(sql`delete from pending_deliveries where id = any(${unknown})`)
    return new Map(rows.map(({ id, open, known }) => [id, known ? (open ? 'send' : 'record') : 'forget']))
  }
}
