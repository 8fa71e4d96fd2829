import { StartError } from '#platform/errors.ts'
import { downloadRoute, storageAddress } from '#platform/file-store/s3-address.ts'
import { logLevels } from '#platform/log.ts'
import { nodeRoles } from '#platform/node-roles.ts'
import { isLocal, policyWords, readPolicy } from '#platform/outbound/policy.ts'
import {
  certificateFile,
  endpoint,
  endpointOrLog,
  type Format,
  folder,
  headerList,
  host,
  hours,
  listOf,
  oneOf,
  optional,
  origin,
  port,
  postgresAddress,
  printable,
  proxies,
  ratio,
  serviceName,
  token,
  utcDate,
  wholeNumber,
} from '#platform/setting-values.ts'

interface Setting<T> extends Format<T> {
  /** The default, as text. */
  fallback: string
  about: string
  /** Errors must not show the value. */
  secret: boolean
}

function setting<T>(fallback: string, about: string, { allowed, read }: Format<T>): Setting<T> {
  return { fallback, about, allowed, read, secret: false }
}

/** A setting without a default; it is null when it is not set. */
const unset = <T>(about: string, format: Format<T>) => setting('', about, optional(format))

const secret = <T>(given: Setting<T>): Setting<T> => ({ ...given, secret: true })

/** All of Belfry's settings. docs/settings.md and `--help` show the same texts; tests compare them. */
export const settings = {
  BELFRY_HOST: setting('127.0.0.1', 'Address that both listeners bind to.', host),
  BELFRY_PORT: setting('3000', 'Port of the web pages, git and the self-hosted API (`/api/v3`). 0 selects a free port.', port),
  BELFRY_VERSIONED_PORT: setting('3001', 'Port of the versioned API. 0 turns it off.', port),
  BELFRY_URL: unset('Public address of the web listener. Set it when a proxy is in front.', origin),
  BELFRY_VERSIONED_URL: unset('Public address of the versioned listener. Set it when a proxy is in front.', origin),
  BELFRY_TRUSTED_PROXIES: setting('loopback', 'Proxies whose `X-Forwarded-For` header is trusted.', proxies),

  BELFRY_DATA: setting('./data', 'Folder for the embedded database, git repositories and keys.', folder),
  DATABASE_URL: secret(
    unset(
      'PostgreSQL server to use (version 15 or later); of several hosts, the one that accepts writes. Unset: an embedded server in `BELFRY_DATA`.',
      postgresAddress,
    ),
  ),
  BELFRY_REPLICA_URL: secret(
    unset(
      'Standby of the server in `DATABASE_URL`, which timelines, feeds and public lists are read from while it is up to date. Unset: all are read from `DATABASE_URL`.',
      postgresAddress,
    ),
  ),
  BELFRY_STORAGE_URL: secret(
    unset(
      'Bucket for files of Git LFS, releases and complete imports, as `s3://KEY:SECRET@host:port/bucket/prefix?region=us-east-1&tls=off`. Unset: files in `BELFRY_DATA`.',
      storageAddress,
    ),
  ),
  BELFRY_STORAGE_DOWNLOADS: setting(
    'streamed',
    'How clients download from the bucket: `streamed` through Belfry; `presigned` by links to the storage that are valid for 10 minutes; or the address of the storage for such links, if clients reach it by another one.',
    downloadRoute,
  ),
  AWS_ACCESS_KEY_ID: secret(unset('Access key of the bucket, if `BELFRY_STORAGE_URL` has none.', printable)),
  AWS_SECRET_ACCESS_KEY: secret(unset('Secret of that access key.', printable)),
  BELFRY_ROLES: setting(
    'web,git,api,worker',
    'What this process does: `web` serves pages and feeds, `git` serves git and Git LFS, `api` serves both APIs, `worker` runs background jobs.',
    listOf(...nodeRoles),
  ),
  BELFRY_LOG: setting('info', `Lowest level that is logged: ${logLevels.join(', ')}.`, oneOf(...logLevels)),
  BELFRY_METRICS_TOKEN: secret(
    unset(
      'Bearer token for `/metrics`, of 20 to 255 characters. Set it when a proxy is in front. Unset: only requests from this machine are answered.',
      token,
    ),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: unset(
    'OpenTelemetry collector that gets traces, by OTLP over HTTP as JSON: `/v1/traces` is added. Unset: no traces are made.',
    endpoint,
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    unset('Headers for the collector, such as `authorization=Bearer%20…`, separated by commas.', headerList),
  ),
  OTEL_SERVICE_NAME: setting('belfry', 'Name of this service in traces.', serviceName),
  OTEL_TRACES_SAMPLER_ARG: setting('1', 'Share of requests that are traced, from 0 to 1.', ratio),

  BELFRY_ADMIN_TOKEN: secret(unset('Classic token with all scopes for the site admin `admin`. At least 20 characters.', token)),
  BELFRY_SIGNUP: unset(
    'Whether visitors can create their own accounts: `on` or `off`. Unset: on while `BELFRY_HOST` is a loopback address and `BELFRY_URL` is not set.',
    oneOf('on', 'off'),
  ),
  BELFRY_SIGN_IN_ONLY: setting(
    'off',
    '`on` serves nothing to visitors without an account: the APIs answer 401, pages lead to sign-in, and git and feeds need credentials.',
    oneOf('on', 'off'),
  ),
  // Providers take a key in the address.
  BELFRY_SMS_URL: secret(
    unset(
      'HTTP endpoint that sends text messages; it receives `{"to", "text"}` as JSON. `log` writes them to the log instead. Unset: codes by text message are not offered.',
      endpointOrLog,
    ),
  ),

  BELFRY_RATE_LIMIT: unset(
    'Turns the rate limit `on` or `off` for both APIs. Unset: on for the versioned API, off for the self-hosted one.',
    oneOf('on', 'off'),
  ),
  BELFRY_PUBLIC_EVENTS_DELAY: unset(
    'Seconds until an event appears on `/events`, for both APIs. Unset: 300 self-hosted, 30 versioned.',
    wholeNumber('number of seconds', 0, 86_400),
  ),

  BELFRY_PUSH_SIZE: setting('2048', 'Megabytes that one push may send.', wholeNumber('number of megabytes', 1, 1_000_000)),
  BELFRY_OBJECT_SIZE: setting(
    '100',
    'Megabytes that one git object, such as a file, may have. Larger files belong in Git LFS.',
    wholeNumber('number of megabytes', 1, 2000),
  ),
  BELFRY_GIT_PROCESSES: setting(
    '64',
    'Fetches and pushes served at a time, and as many API requests that run git. One caller gets a quarter.',
    wholeNumber('number', 1, 10_000),
  ),
  BELFRY_GIT_IDLE: setting(
    '60',
    'Seconds that a client may stall: for headers to arrive, and with less than 1 KB a second of a fetch, push or upload. Other bodies get a second more for each 16 KB.',
    wholeNumber('number of seconds', 1, 86_400),
  ),

  BELFRY_WEBHOOK_ADDRESSES: setting(
    'external',
    'Addresses that webhooks may be sent to. `loopback` is added when `BELFRY_HOST` is a loopback address.',
    addressPolicy('BELFRY_WEBHOOK_ADDRESSES'),
  ),
  BELFRY_WEBHOOK_TIMEOUT: setting(
    '30',
    'Seconds that a webhook receiver has to respond.',
    wholeNumber('number of seconds', 1, 300),
  ),
  BELFRY_WEBHOOK_RETRIES: setting('0', 'Automatic retries of a failed webhook delivery.', wholeNumber('number', 0, 20)),
  BELFRY_WEBHOOK_TRACEPARENT: setting(
    'off',
    '`on` sends the header `traceparent` with deliveries of traced acts, so that receivers continue the trace.',
    oneOf('on', 'off'),
  ),
  BELFRY_CA: unset(
    'File with additional CA certificates (PEM) to trust for webhooks, imports, the bucket, text messages and traces.',
    certificateFile,
  ),

  BELFRY_IMPORTS: unset(
    'Makes source imports `open`, `closed` or under `maintenance` on both APIs. Unset: open self-hosted; closed versioned since 2024-04-12.',
    oneOf('open', 'closed', 'maintenance'),
  ),
  BELFRY_IMPORTS_CLOSE_AT: unset(
    'Date and time when source imports close on both APIs, such as `2030-01-31T00:00:00Z`.',
    utcDate,
  ),
  BELFRY_IMPORT_ADDRESSES: setting(
    'external',
    'Addresses that repositories may be imported from. `loopback` is added when `BELFRY_HOST` is a loopback address.',
    asText(addressPolicy('BELFRY_IMPORT_ADDRESSES')),
  ),
  BELFRY_IMPORT_LFS: setting(
    'undecided',
    'Files over 100 MB in an import: `opt_in` stores them with Git LFS, `opt_out` leaves them out, `undecided` asks the user.',
    oneOf('undecided', 'opt_in', 'opt_out'),
  ),
  BELFRY_IMPORT_DISK: setting(
    '20480',
    'Megabytes of disk that one import may use while it runs.',
    wholeNumber('number of megabytes', 1, 10_000_000),
  ),
  BELFRY_IMPORT_MEMORY: setting(
    '2048',
    'Megabytes of memory that all processes of one import may use together.',
    wholeNumber('number of megabytes', 64, 1_000_000),
  ),
  BELFRY_IMPORT_KEEP: setting(
    '14',
    'Days that the files of a complete import stay until the first push, so that importing again brings only what is new; `0` deletes them at once.',
    wholeNumber('number of days', 0, 365),
  ),
  BELFRY_IMPORT_HOURS: setting('24', 'Hours that one import may run. Time spent waiting for the user does not count.', hours),
}

function addressPolicy(name: string) {
  return { allowed: `a list of ${policyWords}`, read: (text: string) => readPolicy(text, name) }
}

/** Import workers are processes of their own, which get the policy as text. */
function asText({ allowed, read }: Format<unknown>): Format<string> {
  return { allowed, read: (text) => (read(text) ? text : undefined) }
}

export type Settings = { readonly [Name in keyof typeof settings]: Value<(typeof settings)[Name]> }
type Value<S> = S extends Setting<infer T> ? T : never

/** Whether visitors can create accounts. A server that others may reach does not offer it until the operator does. */
export const isSignUpOpen = ({ BELFRY_SIGNUP, BELFRY_HOST, BELFRY_URL }: Settings) =>
  (BELFRY_SIGNUP ?? (isLocal(BELFRY_HOST) && BELFRY_URL === null ? 'on' : 'off')) === 'on'

/** Former names. A start with one of them is refused, because Belfry would otherwise run without the setting. */
const renamed = { BELFRY_WEBHOOK_CA: 'BELFRY_CA' }

/** Reads every setting from the environment. The first wrong one stops the start. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  for (const [former, name] of Object.entries(renamed))
    if (environment[former]?.trim()) throw new StartError(`${former} is now called ${name}. Set ${name} and remove ${former}.`)
  const entries = Object.entries(settings).map(([name, { fallback, allowed, read, secret }]: [string, Setting<unknown>]) => {
    const text = environment[name]?.trim() || fallback
    const value = read(text)
    if (value === undefined) {
      const shown = secret ? 'set to a value that is not allowed' : JSON.stringify(withoutCredentials(text))
      throw new StartError(`${name} is ${shown}: it must be ${allowed}.`)
    }
    return [name, value]
  })
  return Object.freeze(Object.fromEntries(entries)) as Settings
}

/** An address may hold a password, which an error must not show. */
function withoutCredentials(text: string) {
  return text.replace(/\/\/[^/@]*@/, '//…@')
}

/** Not a setting: `belfry listen` reads its token from it. */
const listenToken = 'BELFRY_TOKEN'

/** Variables that begin like a setting and are none, such as misspelt ones. */
export function unknownSettings(environment: NodeJS.ProcessEnv) {
  return Object.keys(environment).filter((name) => name.startsWith('BELFRY_') && !(name in settings) && name !== listenToken)
}

/** The settings as `--help` prints them. */
export function describeSettings() {
  return Object.entries(settings)
    .map(([name, { fallback, about }]) => `  ${name.padEnd(28)}${about.replaceAll('`', '')}${fallback ? ` [${fallback}]` : ''}`)
    .join('\n')
}
