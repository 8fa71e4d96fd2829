import type { Import } from '#parts/imports/import-row.ts'
import { importsTopic } from '#parts/imports/import-store.ts'
import type { State } from '#parts/imports/states.ts'
import { sql } from '#platform/database.ts'
import { type Claims, openClaims } from './claims.ts'
import type { RunnerDeps } from './deps.ts'
import { importsRoot, sweepFolders } from './folders.ts'
import { type ImportRun, runImport } from './run-import.ts'

type Pool = 'long' | 'brief'
/** How many imports one node works on at a time: a long one keeps a processor or two busy, and nobody waits for it with a brief one. */
const maxAtOnce: Record<Pool, number> = { long: 2, brief: 4 }
/** What it is looked for, and what is corrected afterwards, takes seconds. */
const poolOf = (status: State): Pool => (status === 'detecting' || status === 'complete' ? 'brief' : 'long')
/** How many are looked at, of which others may have claimed most. */
const maxPolled = 100
/** With nothing told, we look all the same: for what people did by other nodes, and for what dead nodes left. In milliseconds. */
const pollInterval = 500
/** Before an import is taken up again that could not be worked on, as when the database went away. In milliseconds. */
const retryDelay = 5000

/** Works on the imports that have something to do, as long as nobody else does. */
export class Runner {
  readonly #deps: RunnerDeps
  readonly #carried = new Map<number, { pool: Pool; importRun: ImportRun; done: Promise<void> }>()
  /** When those may be taken up again that could not be worked on. */
  readonly #paused = new Map<number, number>()
  #claims: Claims | undefined
  #stopping = new AbortController()
  #checking: Promise<void> | undefined
  #askedAgain = false
  #stopped = false
  readonly #timer: NodeJS.Timeout
  readonly #off: () => void

  constructor(deps: RunnerDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.wake(), pollInterval).unref()
    this.#off = deps.db.onEnd((_, topics) => topics.has(importsTopic) && this.wake())
    this.wake()
  }

  /** Looks for something to do, or to leave off, now. */
  wake() {
    if (this.#checking) this.#askedAgain = true
    else
      this.#checking = this.#look()
        .catch((error) => this.#deps.log.debug({ err: error }, 'imports wait for the database'))
        .finally(() => {
          this.#checking = undefined
        })
  }

  async #look() {
    do {
      this.#askedAgain = false
      if (this.#stopped) return
      await this.#check()
      await this.#claimMore()
      const { db, data } = this.#deps
      await sweepFolders(db, importsRoot(data), (import_id) => this.#carried.has(import_id))
    } while (this.#askedAgain)
  }

  /** Whether those in hand are still wanted. */
  async #check() {
    if (this.#carried.size === 0) return
    const carried = [...this.#carried]
    const rows = await this.#deps.db.rows<{ id: number; run: number }>(sql`
      select id, run from imports where id = any(${carried.map(([id]) => id)})`)
    const found = new Map(rows.map((row) => [row.id, row]))
    for (const [id, { importRun }] of carried) importRun.notice(found.get(id))
  }

  async #claimMore() {
    const pools = (['brief', 'long'] as const).filter((pool) => this.#room(pool) > 0)
    if (pools.length === 0) return
    const now = performance.now()
    const others = [...this.#paused].flatMap(([id, until]) => (until > now ? [id] : [])).concat(...this.#carried.keys())
    const waiting = await this.#deps.db.rows<{ id: number; status: State }>(sql`
      select id, status from imports where active and id <> all(${others}) order by id limit ${maxPolled}`)
    for (const pool of pools) {
      const ids = waiting.flatMap(({ id, status }) => (poolOf(status) === pool ? [id] : []))
      if (ids.length === 0) continue
      const claims = await this.#claim()
      for (const id of await claims.take(ids, this.#room(pool))) this.#runImport(id, pool, claims)
    }
  }

  #room(pool: Pool) {
    return maxAtOnce[pool] - [...this.#carried.values()].filter((each) => each.pool === pool).length
  }

  /** The connection that holds the claims is opened with the first. */
  async #claim(): Promise<Claims> {
    if (this.#claims) return this.#claims
    const claims = await openClaims(this.#deps.db)
    this.#claims = claims
    const stopping = new AbortController()
    this.#stopping = stopping
    void claims.lost.then(() => {
      // Others may be at work on them from now on.
      stopping.abort()
      if (this.#claims === claims) this.#claims = undefined
    })
    return claims
  }

  #runImport(id: number, pool: Pool, claims: Claims) {
    this.#paused.delete(id)
    const hasRoom = ({ status }: Import) => this.#change(id, poolOf(status))
    const importRun = runImport(this.#deps, id, this.#stopping.signal, hasRoom)
    const done = importRun.done
      .catch((error) => {
        this.#deps.log.error({ err: error, import_id: id }, 'an import could not be worked on')
        this.#paused.set(id, performance.now() + retryDelay)
      })
      .then(() => claims.release(id).catch(() => {}))
      .finally(() => {
        this.#carried.delete(id)
        if (!this.#stopped) this.wake()
      })
    this.#carried.set(id, { pool, importRun, done })
  }

  /** False when there is no room: whoever has some takes it up. */
  #change(id: number, pool: Pool) {
    const carried = this.#carried.get(id)
    if (!carried || (carried.pool !== pool && this.#room(pool) <= 0)) return false
    carried.pool = pool
    return true
  }

  /** Ends the workers; another node, or this one when it starts again, goes on with what they have. */
  async stop() {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#off()
    await this.#checking
    this.#stopping.abort()
    await Promise.all([...this.#carried.values()].map(({ done }) => done))
    this.#claims?.close()
  }
}
