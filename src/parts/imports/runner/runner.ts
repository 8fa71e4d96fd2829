import type { Import } from '#parts/imports/import-row.ts'
import { importsTopic } from '#parts/imports/import-store.ts'
import { type Database, sql } from '#platform/database.ts'
import { openDedicatedConnection } from '#platform/dedicated-connection.ts'
import type { RunnerDeps } from './deps.ts'
import { importsRoot, sweepFolders } from './folders.ts'
import { type ImportRun, runImport, type Unstored } from './run-import.ts'
import { logFailure } from './run-step.ts'

type Pool = 'long' | 'brief' | 'storing'
/** How many imports one node runs at a time. A long one uses one or two processors; brief ones do not wait for it. */
const maxAtOnce: Record<Pool, number> = { long: 3, brief: 4, storing: 2 }
/** How many of them one user has. A slow source can hold its slot for a day, and the imports of others must not wait for it. */
const maxPerUser: Record<Pool, number> = { long: 2, brief: 3, storing: 2 }

/** Detection and author corrections take seconds. */
function poolOf({ status, active }: Pick<Import, 'status' | 'active'>): Pool {
  if (!active) return 'storing'
  return status === 'detecting' || status === 'complete' ? 'brief' : 'long'
}

/** Null if the account was deleted. */
type User = Import['requester_id']

/** Other nodes may have claimed most of them. */
const maxPolled = 100
/** In milliseconds. Finds the work that other nodes create, and the work that killed nodes leave. */
const pollInterval = 500
/** In milliseconds, before an import whose run failed is claimed again. */
const retryDelay = 5000
/** In milliseconds, before the folder of a complete import is looked at again that could not be stored. */
const storeDelay: Record<Unstored, number> = { failed: 5000, stays: 3_600_000 }

/** Runs the active imports that no other node has claimed. */
export class Runner {
  readonly #deps: RunnerDeps
  readonly #running = new Map<number, { pool: Pool; user: User; run: ImportRun; done: Promise<void> }>()
  /** The time from which a failed import may be claimed again. */
  readonly #paused = new Map<number, number>()
  /** The same for folders of complete imports. */
  readonly #unstored = new Map<number, number>()
  #claims: Claims | undefined
  #stopping = new AbortController()
  #polling: Promise<void> | undefined
  #pollAgain = false
  #lastFailure: string | undefined
  #stopped = false
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void

  constructor(deps: RunnerDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.wake(), pollInterval).unref()
    this.#unsubscribe = deps.db.onTransactionEnd((_, topics) => topics.has(importsTopic) && this.wake())
    this.wake()
  }

  /** Polls now for imports to start and to stop. */
  wake() {
    if (this.#polling) this.#pollAgain = true
    else
      this.#polling = this.#poll()
        .then(
          () => {
            this.#lastFailure = undefined
          },
          (error) => this.#logPollFailure(error),
        )
        .finally(() => {
          this.#polling = undefined
        })
  }

  /** A failure that repeats at every poll is logged once. */
  #logPollFailure(error: unknown) {
    const failure = `${error}`
    if (failure !== this.#lastFailure) void logFailure(this.#deps, error, 'the poll for imports failed')
    this.#lastFailure = failure
  }

  async #poll() {
    do {
      this.#pollAgain = false
      if (this.#stopped) return
      await this.#notifyRunning()
      await this.#claimWaiting()
      const { db, data, keep_days } = this.#deps
      const kept = await sweepFolders(db, importsRoot(data), keep_days, (import_id) => this.#running.has(import_id))
      await this.#claimUnstored(kept)
    } while (this.#pollAgain)
  }

  /** Stops the runs whose import is gone or was restarted. */
  async #notifyRunning() {
    if (this.#running.size === 0) return
    const running = [...this.#running]
    const rows = await this.#deps.db.rows<Pick<Import, 'id' | 'run' | 'active'>>(sql`
      select id, run, active from imports where id = any(${running.map(([id]) => id)})`)
    const found = new Map(rows.map((row) => [row.id, row]))
    for (const [id, { run }] of running) run.notice(found.get(id))
  }

  async #claimWaiting() {
    const pools = (['brief', 'long'] as const).filter((pool) => this.#freeSlots(pool) > 0)
    if (pools.length === 0) return
    const now = performance.now()
    const others = [...this.#paused].flatMap(([id, until]) => (until > now ? [id] : [])).concat(...this.#running.keys())
    // The first of each user, then the second of each.
    const waiting = await this.#deps.db.rows<Pick<Import, 'id' | 'status' | 'active' | 'requester_id'>>(sql`
      select id, status, active, requester_id from imports where active and id <> all(${others})
      order by row_number() over (partition by requester_id order by id), id limit ${maxPolled}`)
    for (const pool of pools) {
      const groups = Map.groupBy(
        waiting.filter((each) => poolOf(each) === pool),
        ({ requester_id }) => requester_id,
      )
      for (const [user, rows] of groups) {
        const room = this.#freeSlots(pool, user)
        if (room <= 0) continue
        const ids = rows.map(({ id }) => id)
        const claims = await this.#openClaims()
        for (const id of await claims.take(ids, room)) this.#run(id, pool, user, claims)
      }
    }
  }

  /** Folders of complete imports that are still on disk, although large files are in a store on a network. */
  async #claimUnstored(kept: number[]) {
    const free = this.#freeSlots('storing')
    if (this.#deps.files.folder !== undefined || free <= 0) return
    for (const id of this.#unstored.keys()) if (!kept.includes(id)) this.#unstored.delete(id)
    const now = performance.now()
    const ids = kept.filter((id) => (this.#unstored.get(id) ?? 0) <= now)
    if (ids.length === 0) return
    const claims = await this.#openClaims()
    for (const id of await claims.take(ids, free)) this.#run(id, 'storing', null, claims)
  }

  #freeSlots(pool: Pool, user?: User) {
    const taken = [...this.#running.values()].filter((each) => each.pool === pool)
    const free = maxAtOnce[pool] - taken.length
    if (user === undefined) return free
    return Math.min(free, maxPerUser[pool] - taken.filter((each) => each.user === user).length)
  }

  /** The connection that holds the claims is opened with the first claim. */
  async #openClaims(): Promise<Claims> {
    if (this.#claims) return this.#claims
    const claims = await openClaims(this.#deps.db)
    this.#claims = claims
    const stopping = new AbortController()
    this.#stopping = stopping
    void claims.lost.then(() => {
      // Other nodes may claim the imports from now on.
      stopping.abort()
      if (this.#claims === claims) this.#claims = undefined
    })
    return claims
  }

  #run(id: number, pool: Pool, user: User, claims: Claims) {
    this.#paused.delete(id)
    const hasRoom = (imported: Import) => this.#moveToPool(id, poolOf(imported))
    const run = runImport(this.#deps, id, this.#stopping.signal, hasRoom)
    const done = run.done
      .then((unstored) => {
        if (unstored) this.#unstored.set(id, performance.now() + storeDelay[unstored])
      })
      .catch(async (error) => {
        await logFailure(this.#deps, error, 'the run of an import failed', id)
        this.#paused.set(id, performance.now() + retryDelay)
      })
      .then(() => claims.release(id).catch(() => {}))
      .finally(() => {
        this.#running.delete(id)
        if (!this.#stopped) this.wake()
      })
    this.#running.set(id, { pool, user, run, done })
  }

  /** False if the pool is full, or the user's share of it: the import is then released, and a node with a free slot claims it. */
  #moveToPool(id: number, pool: Pool) {
    const running = this.#running.get(id)
    if (!running || (running.pool !== pool && this.#freeSlots(pool, running.user) <= 0)) return false
    running.pool = pool
    return true
  }

  /** Ends the workers. Another node, or this one after a restart, resumes from their checkpoints. */
  async stop() {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#unsubscribe()
    await this.#polling
    this.#stopping.abort()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
    this.#claims?.close()
  }
}

/** The first key of the advisory locks of imports. */
const lock = 0x696d7074

async function openClaims(db: Database) {
  const imported = await openDedicatedConnection(db)
  return {
    /** Claims up to `most` of the free ones and returns them. */
    async take(ids: number[], most: number) {
      // Without `order by`, because sorting would take locks on rows that `limit` drops.
      const text = `select id from unnest($1::bigint[]) id where pg_try_advisory_lock(${lock}, (id % 2147483647)::int) limit $2`
      const { rows } = await imported.query<{ id: number }>(text, [ids, most])
      return rows.map(({ id }) => id)
    },
    async release(import_id: number) {
      await imported.query(`select pg_advisory_unlock(${lock}, ($1::bigint % 2147483647)::int)`, [import_id])
    },
    /** Resolves when the connection is lost, and with it all claims. */
    lost: imported.lost,
    close: imported.end,
  }
}

/**
 * The imports that this node runs. It holds an advisory lock on each. The database releases the locks when the connection ends, so that
 * other nodes resume a killed node's imports at once.
 */
type Claims = Awaited<ReturnType<typeof openClaims>>
