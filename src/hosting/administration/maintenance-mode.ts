import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { type Administrator, recordAudit } from '#activity/audit.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { ReadOnly } from '#platform/errors.ts'

export interface Maintenance {
  since: Date
  message: string
  /** Seconds after which clients are asked to try again. */
  retry_after: number
}

export function readMaintenance(db: Queryable): Promise<Maintenance | undefined> {
  return db.first<Maintenance>(sql`select since, message, retry_after from maintenance`)
}

/** From now on, all nodes refuse requests that write. If they do already, the message changes. */
export async function startMaintenance(
  db: Transaction,
  admin: Administrator,
  { message, retry_after }: Pick<Maintenance, 'message' | 'retry_after'>,
): Promise<Maintenance> {
  await recordAudit(db, admin, 'site.maintenance_on', message)
  return db.load<Maintenance>(sql`
    insert into maintenance (since, message, retry_after) values (${db.now}, ${message}, ${retry_after})
    on conflict (only_row) do update set message = excluded.message, retry_after = excluded.retry_after
    returning since, message, retry_after`)
}

/** Returns whether there was maintenance. */
export async function endMaintenance(db: Transaction, admin: Administrator): Promise<boolean> {
  const { rowCount } = await db.query(sql`delete from maintenance`)
  if (rowCount) await recordAudit(db, admin, 'site.maintenance_off', '')
  return rowCount === 1
}

/** Milliseconds for which a node does not ask again. */
const span = 800

const writes = (method: string) => !['GET', 'HEAD', 'OPTIONS'].includes(method)

/** Requests with a body that only read: fetches, downloads of Git LFS, and texts to render. */
const reading = /\/git-upload-pack$|\/objects\/batch$|\/markdown(?:\/raw)?$/

/** A push begins with a request for refs. */
const beginsPush = ({ query }: FastifyRequest) => (query as { service?: unknown }).service === 'git-receive-pack'

/** Whether there is maintenance, as a node knows it. */
export class MaintenanceState {
  readonly #db: Database
  #known: { found: Promise<Maintenance | undefined>; at: number } | undefined

  constructor(db: Database) {
    this.#db = db
    db.onTransactionEnd((ending) => {
      if (ending === 'committed elsewhere') this.#known = undefined
    })
  }

  find(): Promise<Maintenance | undefined> {
    if (!this.#known || performance.now() - this.#known.at >= span) {
      const found = readMaintenance(this.#db)
      this.#known = { found, at: performance.now() }
      // The next request asks again.
      found.catch(() => {
        this.#known = undefined
      })
    }
    return this.#known.found
  }
}

/**
 * Refuses requests that write during maintenance, after the caller is known and before the body is read. Routes that only read have no hook, so
 * they cost nothing. Call it before routes are mounted.
 */
export function guardWrites(listener: FastifyInstance, state: MaintenanceState) {
  const check = async () => {
    const found = await state.find()
    if (found) throw new ReadOnly(found.message, found.retry_after)
  }
  listener.addHook('onRoute', (route: RouteOptions) => {
    const methods = [route.method].flat()
    const is_push = route.url.endsWith('/info/refs')
    if (!is_push && (!methods.some(writes) || reading.test(route.url))) return
    const guard = async (request: FastifyRequest) => {
      if (is_push ? beginsPush(request) : writes(request.method)) await check()
    }
    route.preParsing = [...[route.preParsing ?? []].flat(), guard]
  })
}
