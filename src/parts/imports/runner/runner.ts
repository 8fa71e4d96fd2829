import { type Import, importsTopic } from '#parts/imports/import-store.ts'
import type { State } from '#parts/imports/states.ts'
import { sql } from '#platform/database.ts'
import { type Claims, openClaims } from './claims.ts'
import { importsRoot, sweepFolders } from './folders.ts'
import { type Carrying, carry } from './run-import.ts'
import type { Bench } from './run-step.ts'

type Lane = 'long' | 'brief'
/** How many imports one node works on at a time: a long one keeps a processor or two busy, and nobody waits for it with a brief one. */
const mostAtOnce: Record<Lane, number> = { long: 2, brief: 4 }
/** What it is looked for, and what is corrected afterwards, takes seconds. */
const laneOf = (status: State): Lane => (status === 'detecting' || status === 'complete' ? 'brief' : 'long')
/** How many are looked at, of which others may have claimed most. */
const mostLookedAt = 100
/** With nothing told, we look all the same: for what people did by other nodes, and for what dead nodes left. In milliseconds. */
const pollInterval = 500
/** Before an import is taken up again that could not be worked on, as when the database went away. In milliseconds. */
const pauseAfterFault = 5000

/** Works on the imports that have something to do, as long as nobody else does. */
export class Runner {
  readonly #bench: Bench
  readonly #carried = new Map<number, { lane: Lane; carrying: Carrying; done: Promise<void> }>()
  /** When those may be taken up again that could not be worked on. */
  readonly #paused = new Map<number, number>()
  #claims: Claims | undefined
  #leaving = new AbortController()
  #looking: Promise<void> | undefined
  #askedAgain = false
  #stopped = false
  readonly #timer: NodeJS.Timeout
  readonly #off: () => void

  constructor(bench: Bench) {
    this.#bench = bench
    this.#timer = setInterval(() => this.wake(), pollInterval).unref()
    this.#off = bench.db.onTransactionEnd((_, topics) => topics.has(importsTopic) && this.wake())
    this.wake()
  }

  /** Looks for something to do, or to leave off, now. */
  wake() {
    if (this.#looking) this.#askedAgain = true
    else
      this.#looking = this.#look()
        .catch((error) => this.#bench.log.debug({ err: error }, 'imports wait for the database'))
        .finally(() => {
          this.#looking = undefined
        })
  }

  async #look() {
    do {
      this.#askedAgain = false
      if (this.#stopped) return
      await this.#check()
      await this.#claimMore()
      const { db, data } = this.#bench
      await sweepFolders(db, importsRoot(data), (import_id) => this.#carried.has(import_id))
    } while (this.#askedAgain)
  }

  /** Whether those in hand are still wanted. */
  async #check() {
    if (this.#carried.size === 0) return
    const carried = [...this.#carried]
    const rows = await this.#bench.db.rows<{ id: number; run: number }>(sql`
      select id, run from imports where id = any(${carried.map(([id]) => id)})`)
    const found = new Map(rows.map((row) => [row.id, row]))
    for (const [id, { carrying }] of carried) carrying.notice(found.get(id))
  }

  async #claimMore() {
    const lanes = (['brief', 'long'] as const).filter((lane) => this.#room(lane) > 0)
    if (lanes.length === 0) return
    const now = performance.now()
    const others = [...this.#paused].flatMap(([id, until]) => (until > now ? [id] : [])).concat(...this.#carried.keys())
    const waiting = await this.#bench.db.rows<{ id: number; status: State }>(sql`
      select id, status from imports where active and id <> all(${others}) order by id limit ${mostLookedAt}`)
    for (const lane of lanes) {
      const ids = waiting.flatMap(({ id, status }) => (laneOf(status) === lane ? [id] : []))
      if (ids.length === 0) continue
      const claims = await this.#claim()
      for (const id of await claims.take(ids, this.#room(lane))) this.#carry(id, lane, claims)
    }
  }

  #room(lane: Lane) {
    return mostAtOnce[lane] - [...this.#carried.values()].filter((each) => each.lane === lane).length
  }

  /** The connection that holds the claims is opened with the first. */
  async #claim(): Promise<Claims> {
    if (this.#claims) return this.#claims
    const claims = await openClaims(this.#bench.db)
    this.#claims = claims
    const leaving = new AbortController()
    this.#leaving = leaving
    void claims.lost.then(() => {
      // Others may be at work on them from now on.
      leaving.abort()
      if (this.#claims === claims) this.#claims = undefined
    })
    return claims
  }

  #carry(id: number, lane: Lane, claims: Claims) {
    this.#paused.delete(id)
    const hasRoom = ({ status }: Import) => this.#change(id, laneOf(status))
    const carrying = carry(this.#bench, id, this.#leaving.signal, hasRoom)
    const done = carrying.done
      .catch((error) => {
        this.#bench.log.error({ err: error, import_id: id }, 'an import could not be worked on')
        this.#paused.set(id, performance.now() + pauseAfterFault)
      })
      .then(() => claims.release(id).catch(() => {}))
      .finally(() => {
        this.#carried.delete(id)
        if (!this.#stopped) this.wake()
      })
    this.#carried.set(id, { lane, carrying, done })
  }

  /** False when there is no room: whoever has some takes it up. */
  #change(id: number, lane: Lane) {
    const carried = this.#carried.get(id)
    if (!carried || (carried.lane !== lane && this.#room(lane) <= 0)) return false
    carried.lane = lane
    return true
  }

  /** Ends the workers; another node, or this one when it starts again, goes on with what they have. */
  async stop() {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#off()
    await this.#looking
    this.#leaving.abort()
    await Promise.all([...this.#carried.values()].map(({ done }) => done))
    this.#claims?.leave()
  }
}
