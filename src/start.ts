import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { alignLog } from '#activity/log.ts'
import { type App, openApp } from '#app.ts'
import type { Belfry } from '#belfry.ts'
import type { Settings } from '#config.ts'
import { prepareDrain } from '#drain.ts'
import { lfsRoot } from '#git/lfs-store.ts'
import { gitLimits } from '#git/limits.ts'
import { Storage } from '#git/storage.ts'
import { eraseDrafts } from '#hosting/lfs/sweeping.ts'
import { listReservedLogins } from '#hosting/people/people.ts'
import { removeReplacements } from '#hosting/pushes/originals.ts'
import { settleAll } from '#hosting/pushes/pushes.ts'
import { sweepRepositories } from '#hosting/repositories/sweeping.ts'
import { openTextSender } from '#parts/authentication/text-messages.ts'
import type { Clock } from '#platform/clock.ts'
import { claimDataFolder, makeDataFolder, sweepDrafts } from '#platform/data-folder.ts'
import { codeOf, Database, sql } from '#platform/database.ts'
import type { EmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { StartError } from '#platform/errors.ts'
import { countJobs } from '#platform/failed-jobs.ts'
import { keepEmbeddedPostgres } from '#platform/keep-postgres.ts'
import type { Logger } from '#platform/log.ts'
import { migrate } from '#platform/migrate.ts'
import { joinNeighbours } from '#platform/neighbours.ts'
import { processStart } from '#platform/processes.ts'
import { enqueue, releaseAbandonedJobs } from '#platform/queue.ts'
import { Vault } from '#platform/vault.ts'
import { type FirstAdmin, setUp } from '#setup.ts'
import { openWorker } from '#worker.ts'

export interface Running {
  belfry: Belfry
  postgres: EmbeddedPostgres | undefined
  first_admin: FirstAdmin | undefined
  /** Finishes what is in hand, within bounds, and stops everything this process started. */
  stop(): Promise<void>
  /** Ends at once; nothing acknowledged is lost, for it is on disk. */
  kill(): void
}

export const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')).version

/** How long requests and jobs in hand may still take once a stop is asked for. */
const patience = 20_000

/** From settings to a Belfry that answers; whatever was started is stopped again when a later step fails, or an end is asked for. */
export async function start(settings: Settings, clock: Clock, log: Logger, asked: AbortSignal): Promise<Running> {
  await using undo = new AsyncDisposableStack()
  const data = settings.BELFRY_DATA
  makeDataFolder(data)
  let postgres: EmbeddedPostgres | undefined
  if (settings.DATABASE_URL === null) {
    undo.use(claimDataFolder(data))
    const started = await keepEmbeddedPostgres(data, log, asked)
    postgres = started
    undo.defer(() => started.stop())
  } else {
    await reach(settings.DATABASE_URL)
  }
  const db = new Database(postgres?.connection ?? { connectionString: settings.DATABASE_URL ?? '' }, clock)
  db.health.onChange((away) => {
    if (away) log.error('the database does not answer: requests get 503 until it does')
    else log.info('the database answers again')
  })
  // With no request and no connection to the database left, nothing else might keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30)
  undo.defer(() => clearInterval(alive))
  // A query that hangs must not keep us: stopping the database, or our end, ends it.
  undo.defer(() => within(1000, db[Symbol.asyncDispose]()))
  asked.throwIfAborted()
  const applied = await migrate(db)
  if (applied.length) log.info({ applied }, 'migrated')
  asked.throwIfAborted()
  const belfry: Belfry = {
    version,
    settings,
    clock,
    log,
    db,
    storage: new Storage(data, gitLimits(settings)),
    vault: new Vault(data),
    send_text: openTextSender(settings.BELFRY_SMS_URL, settings.BELFRY_CA, log),
    started_at: clock.now(),
    addresses: { web: '', versioned: '' },
  }
  // With the embedded database there is one node only: the data folder is claimed.
  if (settings.DATABASE_URL !== null) {
    undo.use(await joinNeighbours(db))
  }
  await db.patiently(() => alignLog(db))
  const first_admin = await setUp(belfry)
  const unsettled = await db.patiently(() => settleAll(db, belfry.storage))
  for (const { repo_id, error } of unsettled) log.error({ err: error, repo_id }, 'a push is not recorded yet')
  const kept = await db.patiently(() => removeReplacements(db, belfry.storage))
  for (const { repo_id, error } of kept)
    log.error({ err: error, repo_id }, 'could not remove refs/replace from a repository; the next start tries again')
  await db.patiently(() => tidy(belfry, postgres !== undefined))
  // The start does not wait for this, because the queue may be busy, and the metrics show the same.
  reportFailedJobs(belfry).catch((error) => log.debug({ err: error }, 'failed jobs could not be counted'))
  asked.throwIfAborted()
  if (settings.BELFRY_ROLES.includes('worker')) {
    const worker = await openWorker(belfry)
    undo.defer(() => within(patience, worker.stop()))
  }
  if (settings.BELFRY_ROLES.includes('web')) {
    const app = await openApp(belfry)
    const drains = [prepareDrain(app.web), prepareDrain(app.versioned)]
    undo.defer(() => {
      app.announceStop()
      return within(patience, Promise.all(drains.map((drain) => drain())))
    })
    await listen(app, belfry)
    const logins = await listReservedLogins(db)
    if (logins.length) log.warn({ logins }, 'pages of these accounts may be hidden by pages of Belfry with the same address')
  }
  const running = undo.move()
  return {
    belfry,
    postgres,
    first_admin,
    stop: () => running.disposeAsync(),
    kill: () => postgres?.kill(),
  }
}

/** Cleans up after processes that were killed, and logs what only an operator can fix. */
async function tidy({ db, storage, settings, log }: Belfry, alone: boolean) {
  if (alone) {
    // This process has claimed the data folder, so no other process runs jobs or makes a repository.
    await releaseAbandonedJobs(db)
    const before = new Date(processStart)
    try {
      const drafts = sweepDrafts(settings.BELFRY_DATA)
      const removed = [...drafts, ...(await sweepRepositories(db, storage, before))]
      const uploads = await eraseDrafts(lfsRoot(settings.BELFRY_DATA), before)
      if (removed.length || uploads) log.warn({ removed, uploads }, 'removed what ended processes had left in the data folder')
    } catch (error) {
      // The nightly job tries again.
      log.error({ err: error }, 'could not remove what ended processes had left in the data folder')
    }
  }
  if ((await db.query(sql`select from repositories limit 1`)).rowCount)
    await db.transaction((transaction) => enqueue(transaction, 'check_repositories', {}, { key: 'check repositories' }))
}

async function reportFailedJobs({ db, log }: Belfry) {
  const { failed } = await countJobs(db)
  if (failed) log.error({ failed }, 'jobs have failed for good: see GET /admin/jobs/failed, and POST /admin/jobs/{job_id}/retry')
}

/** A server that is not there, or does not let us in, is told in one line. */
async function reach(url: string) {
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
    client.on('error', () => {})
    await client.connect()
    await client.end()
  } catch (error) {
    // Where a name has several addresses, the message is empty and the code tells.
    const why = (error instanceof Error && error.message) || codeOf(error)
    throw new StartError(`DATABASE_URL names a server that cannot be used: ${why}.`)
  }
}

async function listen(app: App, { settings, addresses }: Belfry) {
  const { BELFRY_HOST: host, BELFRY_PORT, BELFRY_URL, BELFRY_VERSIONED_PORT, BELFRY_VERSIONED_URL } = settings
  // Links must be right from the first request on: both addresses are settled before either listener is told of.
  addresses.web = (await bind(app.web, host, BELFRY_PORT, 'BELFRY_PORT', BELFRY_URL)) ?? ''
  if (BELFRY_VERSIONED_PORT === 0) return
  addresses.versioned =
    (await bind(app.versioned, host, BELFRY_VERSIONED_PORT, 'BELFRY_VERSIONED_PORT', BELFRY_VERSIONED_URL)) ?? ''
}

export async function bind(listener: App['web'], host: string, port: number, setting: string, public_url: URL | null) {
  try {
    await listener.listen({ host, port })
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE')
      throw new StartError(`${setting} is ${port}: something else listens there already. Choose another port.`)
    if (codeOf(error) === 'EACCES')
      throw new StartError(`${setting} is ${port}: this account may not listen there. Choose another port.`)
    throw new StartError(`BELFRY_HOST is "${host}": Belfry cannot listen there on port ${port} (${codeOf(error)}).`)
  }
  if (public_url) return public_url.origin
  const bound = listener.server.address() as AddressInfo
  const name = ['0.0.0.0', '::'].includes(bound.address) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${bound.port}`
}

/** Waits, but not for ever: what hangs must not keep the rest from stopping in order. */
async function within(milliseconds: number, work: Promise<unknown>) {
  const timer = Promise.withResolvers<void>()
  const timeout = setTimeout(timer.resolve, milliseconds)
  await Promise.race([work, timer.promise])
  clearTimeout(timeout)
}
