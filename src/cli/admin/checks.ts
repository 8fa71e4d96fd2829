import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Settings, unknownSettings } from '#config.ts'
import { git } from '#git/git.ts'
import { findWrongCounters, repairCounters } from '#hosting/maintenance/counters.ts'
import { listAllHooks } from '#parts/webhooks/all-hooks.ts'
import { type Database, sql } from '#platform/database.ts'
import { countJobs, listFailedJobs } from '#platform/failed-jobs.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'

export interface Check {
  name: string
  state: 'ok' | 'warning' | 'failed'
  message: string
  /** What to do about it. */
  advice?: string
}

const ok = (name: string, message: string): Check => ({ name, state: 'ok', message })
const warning = (name: string, message: string, advice: string): Check => ({ name, state: 'warning', message, advice })
const failed = (name: string, message: string, advice: string): Check => ({ name, state: 'failed', message, advice })

export function checkSettings(settings: Settings, environment: NodeJS.ProcessEnv): Check[] {
  const checks: Check[] = []
  const unknown = unknownSettings(environment)
  if (unknown.length)
    checks.push(
      warning('settings', `Unknown: ${unknown.join(', ')}.`, 'Correct the names; npx belfry --help lists all settings.'),
    )
  const outside = !['127.0.0.1', '::1', 'localhost'].includes(settings.BELFRY_HOST)
  if (outside && !settings.BELFRY_URL)
    checks.push(
      warning(
        'settings',
        'BELFRY_HOST is open to other machines, and BELFRY_URL is not set.',
        'Set BELFRY_URL to the public address.',
      ),
    )
  if (settings.BELFRY_URL && !settings.BELFRY_METRICS_TOKEN)
    checks.push(
      warning('settings', 'BELFRY_URL is set, and BELFRY_METRICS_TOKEN is not.', 'Set it, so that /metrics answers monitoring.'),
    )
  const mode = statSync(join(settings.BELFRY_DATA, 'secrets.key')).mode & 0o777
  if (mode & 0o077)
    checks.push(
      failed(
        'secrets',
        `Other accounts can read secrets.key (mode ${mode.toString(8)}).`,
        `chmod 600 ${join(settings.BELFRY_DATA, 'secrets.key')}`,
      ),
    )
  return checks.length ? checks : [ok('settings', `Data in ${settings.BELFRY_DATA}.`)]
}

const oldestGit = [2, 38] as const
const oldestPostgres = 15

export async function checkVersions(db: Database): Promise<Check[]> {
  const printed = await git(['--version']).catch(() => '')
  const [, major = 0, minor = 0] = (/^git version (\d+)\.(\d+)/.exec(printed) ?? []).map(Number)
  const [server] = await db.rows<{ version: string; number: number }>(sql`
    select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as number`)
  const versions = `Node ${process.versions.node}, ${printed.trim() || 'no git'}, PostgreSQL ${server?.version}.`
  if (major < oldestGit[0] || (major === oldestGit[0] && minor < oldestGit[1]))
    return [failed('versions', versions, `Install git ${oldestGit.join('.')} or later.`)]
  if ((server?.number ?? 0) < oldestPostgres) return [failed('versions', versions, `Use PostgreSQL ${oldestPostgres} or later.`)]
  return [ok('versions', versions)]
}

const megabyte = 2 ** 20

export function checkDisk(data: string): Check[] {
  const { bavail, blocks, bsize } = statfsSync(data)
  const free = (bavail * bsize) / megabyte
  const message = `${Math.round(free)} MB free (${Math.round((100 * bavail) / blocks)} %) for ${data}.`
  if (free < 256) return [failed('disk', message, 'Free space now: pushes and imports are about to fail.')]
  if (free < 2048 || bavail / blocks < 0.05)
    return [warning('disk', message, 'Free space, or move BELFRY_DATA to a larger disk.')]
  return [ok('disk', message)]
}

const trust = 'Set BELFRY_CA to a file with the certificate of the authority that signed the one of the storage.'

const adviceFor: Record<string, string> = {
  NoSuchBucket: 'Create the bucket, or correct its name in BELFRY_STORAGE_URL.',
  SignatureDoesNotMatch:
    'Correct the secret in BELFRY_STORAGE_URL or AWS_SECRET_ACCESS_KEY; percent-encode its special characters.',
  InvalidAccessKeyId: 'Correct the access key in BELFRY_STORAGE_URL or AWS_ACCESS_KEY_ID.',
  AccessDenied: 'Allow this access key to list the bucket, and to read, write and delete its objects.',
  RequestTimeTooSkewed: 'Set the clock of this machine.',
  AuthorizationHeaderMalformed: 'Set region in BELFRY_STORAGE_URL to the one of the storage.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  CERT_HAS_EXPIRED: 'Renew the certificate of the storage.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use a host name in BELFRY_STORAGE_URL that the certificate of the storage has.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'Add tls=off to BELFRY_STORAGE_URL, or turn on TLS in the storage.',
}

/** Of files of Git LFS and releases, if it is not the data folder. */
export async function checkStorage(files: FileStore): Promise<Check[]> {
  if (files.folder !== undefined) return []
  const fault = await files.findFault()
  if (fault === undefined) return [ok('storage', `${files.name} answers.`)]
  const advice = adviceFor[fault] ?? 'Check BELFRY_STORAGE_URL, and that the storage is reachable from this machine.'
  return [failed('storage', `${files.name} cannot be used: ${fault}.`, advice)]
}

export async function checkDatabase(db: Database): Promise<Check[]> {
  const { bytes, damaged, migrations } = await db.load<{ bytes: number; damaged: number; migrations: number }>(sql`
    select pg_database_size(current_database()) as bytes, (select count(*) from migrations)::int as migrations,
      (select coalesce(sum(checksum_failures), 0)::int from pg_stat_database where datname = current_database()) as damaged`)
  const message = `Answers; ${migrations} migrations; ${Math.round(bytes / megabyte)} MB.`
  if (damaged)
    return [failed('database', `${damaged} damaged pages were read.`, 'The disk is failing: restore a backup on another one.')]
  return [ok('database', message)]
}

export async function checkCounters(db: Database, fix: boolean, say: (text: string) => void): Promise<Check[]> {
  const wrong = await findWrongCounters(db)
  if (!wrong.length) return [ok('counters', 'All agree with a recount.')]
  const message = wrong
    .map(
      ({ counter, rows, id, stored, counted }) => `${counter} is wrong in ${rows} rows (id ${id}: ${stored}, counted ${counted})`,
    )
    .join('; ')
  if (!fix) return [failed('counters', `${message}.`, 'Run doctor with --fix.')]
  say(`Correcting counters: ${message}.`)
  return [ok('counters', `Corrected ${await repairCounters(db)} rows.`)]
}

export async function checkJobs(db: Database): Promise<Check[]> {
  const counts = await countJobs(db)
  const message = `${counts.waiting} waiting, ${counts.running} running, ${counts.failed} failed.`
  if (!counts.failed) return [ok('jobs', message)]
  const { rows } = await listFailedJobs(db, { limit: 3, offset: 0 })
  const tasks = [...new Set(rows.map(({ task }) => task))].join(', ')
  return [warning('jobs', `${message} Lately: ${tasks}.`, 'See npx belfry admin jobs list, then npx belfry admin jobs retry.')]
}

export async function checkHooks(db: Database): Promise<Check[]> {
  const { rows, total } = await listAllHooks(db, { failing: true }, { limit: 3, offset: 0 })
  if (!total) return [ok('hooks', 'The last delivery of every active hook was taken.')]
  const named = rows.map(({ id, target, host, last_status }) => `${id} of ${target} to ${host} (${last_status})`).join('; ')
  return [warning('hooks', `The last delivery of ${total} hooks failed: ${named}.`, 'See npx belfry admin hooks failing.')]
}
