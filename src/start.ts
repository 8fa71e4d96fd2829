import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'
import { alignLog } from '#activity/log.ts'
import { type App, openApp } from '#app.ts'
import { type Belfry, noDeliveries } from '#belfry.ts'
import type { Settings } from '#config.ts'
import { prepareDrain } from '#drain.ts'
import { checkGit } from '#git/git.ts'
import { gitLimits } from '#git/limits.ts'
import { Storage } from '#git/storage.ts'
import { listReservedLogins } from '#hosting/people/people.ts'
import { removeReplacements } from '#hosting/pushes/import-refs.ts'
import { settleAll, startSettling } from '#hosting/pushes/pushes.ts'
import { sweepRepositories } from '#hosting/repositories/sweeping.ts'
import { openTextSender } from '#identity/text-messages.ts'
import { startSampling } from '#parts/administration/samples.ts'
import type { Clock } from '#platform/clock.ts'
import { openCommitNotifications } from '#platform/commit-notifications.ts'
import { checkRestored, claimDataFolder, makeDataFolder, sweepDrafts } from '#platform/data-folder.ts'
import { codeOf, Database, sql } from '#platform/database.ts'
import { connectionsTo, primaryFirst } from '#platform/database-servers.ts'
import type { EmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { StartError } from '#platform/errors.ts'
import { countJobs } from '#platform/failed-jobs.ts'
import { openFileStore } from '#platform/file-store/open-store.ts'
import type { Logger } from '#platform/log.ts'
import { watchLoop } from '#platform/loop-watchdog.ts'
import { migrate } from '#platform/migrate.ts'
import { servesRequests } from '#platform/node-roles.ts'
import { processStart } from '#platform/processes.ts'
import { enqueue, releaseAbandonedJobs } from '#platform/queue.ts'
import { Replica } from '#platform/replica.ts'
import { superviseEmbeddedPostgres } from '#platform/supervise-postgres.ts'
import { openTracer } from '#platform/tracing/open-tracer.ts'
import { Vault } from '#platform/vault.ts'
import { type FirstAdmin, setUp } from '#setup.ts'
import { openWorker } from '#worker.ts'

export interface Running {
  belfry: Belfry
  postgres: EmbeddedPostgres | undefined
  first_admin: FirstAdmin | undefined
  /** Finishes running requests and jobs, for a limited time, and stops everything that this process started. */
  stop(): Promise<void>
  /** Stops at once. Acknowledged changes are on disk. */
  kill(): void
}

export const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')).version

/** Milliseconds that requests and jobs have to finish when Belfry stops. */
const stopTimeout = 20_000

/**
 * Starts everything in order. When a step fails or `signal` is aborted, stops what was started before. `prepare` runs when the addresses are
 * known and no job has begun.
 */
export async function start(
  settings: Settings,
  clock: Clock,
  log: Logger,
  signal: AbortSignal,
  prepare?: (belfry: Belfry) => Promise<unknown>,
): Promise<Running> {
  await using undo = new AsyncDisposableStack()
  const data = settings.BELFRY_DATA
  // Before the database is started, because settings may contradict each other.
  if (settings.BELFRY_REPLICA_URL !== null && settings.DATABASE_URL === null)
    throw new StartError('BELFRY_REPLICA_URL needs DATABASE_URL: the embedded PostgreSQL has no standby.')
  const files = undo.use(openFileStore(settings, log))
  makeDataFolder(data)
  checkRestored(data)
  await checkGit()
  let postgres: EmbeddedPostgres | undefined
  let servers: pg.ClientConfig[]
  if (settings.DATABASE_URL === null) {
    undo.use(claimDataFolder(data))
    const started = await superviseEmbeddedPostgres(data, log, signal)
    postgres = started
    undo.defer(() => started.stop())
    servers = [started.connection]
  } else {
    servers = await primaryFirst(connectionsTo(settings.DATABASE_URL))
  }
  const db = new Database(servers, clock)
  db.health.onChange((away) => {
    if (away) log.error('the database does not answer: requests get 503 until it answers again')
    else log.info('the database answers again')
  })
  // Keeps the process alive when it has neither a request nor a database connection.
  const alive = setInterval(() => {}, 2 ** 30)
  undo.defer(() => clearInterval(alive))
  // A query that hangs must not delay the stop.
  undo.defer(() => within(1000, db[Symbol.asyncDispose]()))
  db.tracer = await openTracing(settings, log)
  undo.defer(() => db.tracer?.close())
  signal.throwIfAborted()
  const applied = await migrate(db)
  if (applied.length) log.info({ applied }, 'migrated')
  signal.throwIfAborted()
  const replica =
    settings.BELFRY_REPLICA_URL === null ? undefined : undo.use(new Replica(settings.BELFRY_REPLICA_URL, db, clock, log))
  const belfry: Belfry = {
    version,
    settings,
    clock,
    log,
    db,
    ...(replica && { replica }),
    storage: new Storage(data, gitLimits(settings)),
    files,
    vault: new Vault(data),
    send_text: openTextSender(settings.BELFRY_SMS_URL, settings.BELFRY_CA, log),
    started_at: clock.now(),
    sent_deliveries: noDeliveries(),
    addresses: { web: '', versioned: '' },
  }
  // The embedded database serves one node only, so no other node commits.
  if (settings.DATABASE_URL !== null) undo.use(await openCommitNotifications(db, log))
  await db.withBackgroundTimeouts(() => alignLog(db))
  if (servesRequests(settings.BELFRY_ROLES)) await checkPorts(settings)
  const first_admin = await setUp(belfry)
  const unsettled = await db.withBackgroundTimeouts(() => settleAll(db, belfry.storage))
  for (const { repo_id, error } of unsettled)
    log.error({ err: error, repo_id }, 'could not record a push; Belfry tries again every minute')
  const kept = await db.withBackgroundTimeouts(() => removeReplacements(db, belfry.storage))
  for (const { repo_id, error } of kept)
    log.error({ err: error, repo_id }, 'could not remove refs/replace from a repository; the next start tries again')
  await db.withBackgroundTimeouts(() => tidy(belfry, postgres !== undefined))
  // The start does not wait for the count, because the queue may be busy.
  reportFailedJobs(belfry).catch((error) => log.debug({ err: error }, 'could not count failed jobs'))
  // The store logs what is wrong with a bucket. The start does not wait, because everything but large files works without it.
  files.findFault()
  signal.throwIfAborted()
  let worker: Awaited<ReturnType<typeof openWorker>> | undefined
  // It stops after the listeners, whose last requests enqueue jobs.
  undo.defer(async () => worker && within(stopTimeout, worker.stop()))
  if (servesRequests(settings.BELFRY_ROLES)) {
    undo.use(startSettling(db, belfry.storage, log))
    const app = await openApp(belfry)
    const sampling = startSampling(belfry, app.meter)
    undo.defer(() => sampling.stop())
    const drains = [prepareDrain(app.web), prepareDrain(app.versioned)]
    undo.defer(() => {
      app.announceStop()
      return within(stopTimeout, Promise.all(drains.map((drain) => drain())))
    })
    await listen(app, belfry)
    const logins = await listReservedLogins(db)
    if (logins.length)
      log.warn(
        { logins },
        'these logins are reserved now, so pages of Belfry hide some pages of these accounts; the API and git still work',
      )
  }
  await prepare?.(belfry)
  if (settings.BELFRY_ROLES.includes('worker')) worker = await openWorker(belfry)
  // The start itself blocks the loop, while nothing is served.
  undo.use(watchLoop(log))
  const running = undo.move()
  return {
    belfry,
    postgres,
    first_admin,
    stop: () => running.disposeAsync(),
    kill: () => postgres?.kill(),
  }
}

/** Makes traces as set by `OTEL_EXPORTER_OTLP_ENDPOINT`; undefined if it is not set. */
export function openTracing(settings: Settings, log: Logger) {
  return openTracer(settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.OTEL_TRACES_SAMPLER_ARG, {
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    service: settings.OTEL_SERVICE_NAME,
    certificates: settings.BELFRY_CA,
    version,
    log,
  })
}

/** Removes what killed processes left in the data folder, and enqueues the check of the repositories. */
async function tidy({ db, storage, files, settings, log }: Belfry, alone: boolean) {
  if (alone) {
    // This process holds the lock on the data folder, so no other process runs jobs or creates repositories.
    await releaseAbandonedJobs(db)
    const before = new Date(processStart)
    try {
      const drafts = sweepDrafts(settings.BELFRY_DATA)
      const removed = [...drafts, ...(await sweepRepositories(db, storage, before))]
      const uploads = files.folder === undefined ? 0 : await files.eraseDrafts(before)
      if (removed.length || uploads) log.warn({ removed, uploads }, 'removed files that killed processes left in the data folder')
    } catch (error) {
      log.error(
        { err: error },
        'could not remove files that killed processes left in the data folder; the nightly job tries again',
      )
    }
  }
  if ((await db.query(sql`select from repositories limit 1`)).rowCount)
    await db.transaction((transaction) => enqueue(transaction, 'check_repositories', {}, { key: 'check repositories' }))
}

async function reportFailedJobs({ db, log }: Belfry) {
  const { failed } = await countJobs(db)
  if (failed)
    log.error(
      { failed },
      'jobs have failed and are not tried again: list them with npx belfry admin jobs list, retry with npx belfry admin jobs retry',
    )
}

async function listen(app: App, { settings, addresses }: Belfry) {
  const { BELFRY_HOST: host, BELFRY_PORT, BELFRY_URL, BELFRY_VERSIONED_PORT, BELFRY_VERSIONED_URL } = settings
  addresses.web = (await bind(app.web, host, BELFRY_PORT, 'BELFRY_PORT', BELFRY_URL)) ?? ''
  if (BELFRY_VERSIONED_PORT === 0) return
  addresses.versioned =
    (await bind(app.versioned, host, BELFRY_VERSIONED_PORT, 'BELFRY_VERSIONED_PORT', BELFRY_VERSIONED_URL)) ?? ''
}

/** Before the admin is created: a start that fails later does not print the credentials, and the next one does not know them. */
async function checkPorts({ BELFRY_HOST: host, BELFRY_PORT, BELFRY_VERSIONED_PORT }: Settings) {
  for (const [setting, port] of Object.entries({ BELFRY_PORT, BELFRY_VERSIONED_PORT })) {
    if (port === 0) continue
    const probe = createServer()
    try {
      probe.listen({ host, port, exclusive: true })
      await once(probe, 'listening')
    } catch (error) {
      throw cannotListen(error, host, port, setting)
    }
    probe.close()
    await once(probe, 'close')
  }
}

export async function bind(listener: App['web'], host: string, port: number, setting: string, public_url: URL | null) {
  try {
    await listener.listen({ host, port })
  } catch (error) {
    throw cannotListen(error, host, port, setting)
  }
  if (public_url) return public_url.origin
  const bound = listener.server.address() as AddressInfo
  const name = ['0.0.0.0', '::'].includes(bound.address) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${bound.port}`
}

function cannotListen(error: unknown, host: string, port: number, setting: string) {
  if (codeOf(error) === 'EADDRINUSE')
    return new StartError(`${setting} is ${port}: another program listens on this port. Stop it, or choose another port.`)
  if (codeOf(error) === 'EACCES')
    return new StartError(`${setting} is ${port}: this account may not listen on this port. Choose a port from 1024 on.`)
  return new StartError(
    `BELFRY_HOST is "${host}": Belfry cannot listen on this address, port ${port} (${codeOf(error)}). Set it to an address of this machine.`,
  )
}

/** Waits for at most so long, because a step that hangs must not keep the others from stopping. */
async function within(milliseconds: number, work: Promise<unknown>) {
  const timer = Promise.withResolvers<void>()
  const timeout = setTimeout(timer.resolve, milliseconds)
  await Promise.race([work, timer.promise])
  clearTimeout(timeout)
}
