import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { StartError } from '#platform/errors.ts'
import { type LogLevel, logLevels } from '#platform/log.ts'
import { type Policy, policyWords, readPolicy } from '#platform/outbound/policy.ts'

/** One setting: what it is for, what it may be, and how its text becomes a value (undefined: it may not be that). */
interface Setting<T> {
  fallback: string
  about: string
  allowed: string
  read(text: string): T | undefined
  /** Its value must not be shown, not even in an error. */
  secret?: true
}

/** Keeps each setting's own type while the table is checked as a whole. */
const setting = <T>(is: Setting<T>) => is

const roles = ['web', 'worker'] as const
type Role = (typeof roles)[number]

const address = (about: string) =>
  setting<URL | null>({
    fallback: '',
    about,
    allowed: 'an http or https address without a path, such as https://belfry.example',
    read: (text) => (text === '' ? null : readAddress(text)),
  })

/** All of Belfry's settings. The README's table and `--help` say the same; a test compares them. */
export const settings = {
  BELFRY_HOST: setting({
    fallback: '127.0.0.1',
    about: 'Address that both listeners bind to.',
    allowed: 'an IP address or a host name',
    read: (text) => (isIP(text) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) ? text : undefined),
  }),
  BELFRY_PORT: setting({
    fallback: '3000',
    about: 'Port of web pages, git and the self-hosted variant (`/api/v3`); 0 takes any free one.',
    allowed: 'a port number from 0 to 65535',
    read: readPort,
  }),
  BELFRY_VERSIONED_PORT: setting({
    fallback: '3001',
    about: 'Port of the versioned variant; 0 turns it off.',
    allowed: 'a port number from 0 to 65535',
    read: readPort,
  }),
  BELFRY_URL: address('Public address of the web listener, when it is behind a proxy. Unset: what it listens on.'),
  BELFRY_VERSIONED_URL: address(
    'Public address of the versioned listener, when it is behind a proxy. Unset: what it listens on.',
  ),
  BELFRY_DATA: setting({
    fallback: './data',
    about: 'Folder of the embedded database, git repositories and keys.',
    allowed: 'the path of a folder',
    read: (text) => (text === '' || text.includes('\0') ? undefined : resolve(text)),
  }),
  DATABASE_URL: setting<string | null>({
    fallback: '',
    about: 'PostgreSQL server to use (15 or later). Unset: an embedded one in `BELFRY_DATA`.',
    allowed: 'a postgres:// address',
    read: (text) => (text === '' ? null : /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
    secret: true,
  }),
  BELFRY_ADMIN_TOKEN: setting<string | null>({
    fallback: '',
    about: 'When set, the site admin `admin` holds this classic token with all scopes.',
    allowed: 'at least 20 printable characters without spaces',
    read: (text) => (text === '' ? null : /^[!-~]{20,255}$/.test(text) ? text : undefined),
    secret: true,
  }),
  BELFRY_ROLES: setting<readonly Role[]>({
    fallback: 'web,worker',
    about: 'What this process does: `web` answers requests, `worker` runs background jobs.',
    allowed: 'web, worker, or both with a comma between',
    read: (text) => {
      const named = text.split(',').map((word) => word.trim())
      return named.every((word): word is Role => roles.some((role) => role === word)) ? named : undefined
    },
  }),
  BELFRY_SIGNUP: setting<'on' | 'off'>({
    fallback: 'on',
    about: 'Whether people may make accounts of their own.',
    allowed: 'on or off',
    read: (text) => (text === 'on' || text === 'off' ? text : undefined),
  }),
  BELFRY_RATE_LIMIT: setting<'on' | 'off' | null>({
    fallback: '',
    about: '`on` or `off` for both variants. Unset: on for the versioned one only.',
    allowed: 'on or off',
    read: (text) => (text === '' ? null : text === 'on' || text === 'off' ? text : undefined),
  }),
  BELFRY_PUBLIC_EVENTS_DELAY: setting<number | null>({
    fallback: '',
    about: 'Seconds before an event shows on `/events`, for both variants. Unset: 300 self-hosted, 30 versioned.',
    allowed: 'a number of seconds, at most a day',
    read: (text) => (text === '' ? null : /^\d{1,5}$/.test(text) && Number(text) <= 86_400 ? Number(text) : undefined),
  }),
  BELFRY_WEBHOOK_ADDRESSES: setting<Policy>({
    fallback: 'external',
    about: 'Where webhooks may be sent to. `loopback` is added when both listeners are only for this machine.',
    allowed: `a list of ${policyWords}`,
    read: (text) => readPolicy(text, 'BELFRY_WEBHOOK_ADDRESSES'),
  }),
  BELFRY_WEBHOOK_TIMEOUT: setting({
    fallback: '30',
    about: 'Seconds that a receiver of webhooks has for its answer.',
    allowed: 'a number of seconds from 1 to 300',
    read: (text) => (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 300 ? Number(text) : undefined),
  }),
  BELFRY_WEBHOOK_RETRIES: setting({
    fallback: '0',
    about: 'How often a delivery that failed is tried again by itself.',
    allowed: 'a number from 0 to 20',
    read: (text) => (/^\d{1,2}$/.test(text) && Number(text) <= 20 ? Number(text) : undefined),
  }),
  BELFRY_CA: setting<string | null>({
    fallback: '',
    about: 'File with additional CA certificates (PEM) to trust for webhooks, imports and text messages.',
    allowed: 'a readable file with certificates in PEM form',
    read: (text) => (text === '' ? null : readCertificates(text)),
  }),
  BELFRY_IMPORTS: setting<'open' | 'closed' | 'maintenance' | null>({
    fallback: '',
    about:
      '`open`, `closed` or `maintenance`: whether source imports are served, on both variants. Unset: open, and closed on the versioned one since 2024-04-12.',
    allowed: 'open, closed or maintenance',
    read: (text) => (text === '' ? null : text === 'open' || text === 'closed' || text === 'maintenance' ? text : undefined),
  }),
  BELFRY_IMPORTS_CLOSE_AT: setting<Date | null>({
    fallback: '',
    about: 'Moment from which source imports are closed, on both variants, such as `2030-01-31T00:00:00Z`.',
    allowed: 'a moment in UTC, such as 2030-01-31T00:00:00Z',
    read: (text) => (text === '' ? null : readMoment(text)),
  }),
  BELFRY_IMPORT_ADDRESSES: setting({
    fallback: 'external',
    about: 'Where repositories may be imported from. `loopback` is added when both listeners are only for this machine.',
    allowed: `a list of ${policyWords}`,
    read: (text) => (readPolicy(text, 'BELFRY_IMPORT_ADDRESSES') ? text : undefined),
  }),
  BELFRY_IMPORT_LFS: setting<'undecided' | 'opt_in' | 'opt_out'>({
    fallback: 'undecided',
    about:
      'What becomes of files over 100 MB when nobody says: `opt_in` stores them with Git LFS, `opt_out` leaves them out, `undecided` waits to be told.',
    allowed: 'undecided, opt_in or opt_out',
    read: (text) => (text === 'undecided' || text === 'opt_in' || text === 'opt_out' ? text : undefined),
  }),
  BELFRY_IMPORT_DISK: setting({
    fallback: '20480',
    about: 'Megabytes of disk that one import may take while it is made.',
    allowed: 'a number of megabytes from 1 to 10000000',
    read: (text) => readNumber(text, 1, 10_000_000),
  }),
  BELFRY_IMPORT_MEMORY: setting({
    fallback: '2048',
    about: 'Megabytes of memory that one import may take, with all the programs that it runs.',
    allowed: 'a number of megabytes from 64 to 1000000',
    read: (text) => readNumber(text, 64, 1_000_000),
  }),
  BELFRY_IMPORT_HOURS: setting({
    fallback: '24',
    about: 'Hours of work that one import may take; what it waits for somebody does not count.',
    allowed: 'a number of hours, at most 1000, such as 24 or 0.5',
    read: (text) => (/^\d{1,4}(\.\d{1,4})?$/.test(text) && Number(text) > 0 && Number(text) <= 1000 ? Number(text) : undefined),
  }),
  BELFRY_PUSH_SIZE: setting({
    fallback: '2048',
    about: 'Megabytes that one push may send.',
    allowed: 'a number of megabytes from 1 to 1000000',
    read: (text) => readNumber(text, 1, 1_000_000),
  }),
  BELFRY_OBJECT_SIZE: setting({
    fallback: '100',
    about: 'Megabytes that one file, or any other object in git, may have. Larger files belong in Git LFS.',
    allowed: 'a number of megabytes from 1 to 2000',
    read: (text) => readNumber(text, 1, 2000),
  }),
  BELFRY_GIT_PROCESSES: setting({
    fallback: '64',
    about: 'Fetches and pushes served at once, and API requests that read repositories; a quarter of it per caller.',
    allowed: 'a number from 1 to 10000',
    read: (text) => readNumber(text, 1, 10_000),
  }),
  BELFRY_GIT_IDLE: setting({
    fallback: '60',
    about: 'Seconds after which a fetch or push ends whose client sends or takes less than 1 KB a second.',
    allowed: 'a number of seconds from 1 to 86400',
    read: (text) => readNumber(text, 1, 86_400),
  }),
  BELFRY_SMS_URL: setting<'log' | URL | null>({
    fallback: '',
    about:
      'HTTP endpoint that sends text messages: it gets `{"to", "text"}` as JSON. `log` writes them to the log, for trying. Unset: codes by text message are not offered.',
    allowed: 'an http or https address, or log',
    read: (text) => (text === '' ? null : text === 'log' ? text : readEndpoint(text)),
    // Providers take a key in the address.
    secret: true,
  }),
  BELFRY_METRICS_TOKEN: setting<string | null>({
    fallback: '',
    about:
      'Bearer token that opens `/metrics`. Set it when a proxy stands in front. Unset: only requests from this machine to a loopback address, without a proxy.',
    allowed: 'at least 20 printable characters without spaces',
    read: (text) => (text === '' ? null : /^[!-~]{20,255}$/.test(text) ? text : undefined),
    secret: true,
  }),
  BELFRY_TRUSTED_PROXIES: setting<string[]>({
    fallback: 'loopback',
    about: 'Proxies whose `X-Forwarded-For` is believed.',
    allowed: 'a comma-separated list of IP addresses, CIDR ranges and the words loopback, linklocal, uniquelocal; or none',
    read: readProxies,
  }),
  BELFRY_LOG: setting<LogLevel>({
    fallback: 'info',
    about: 'How much is logged.',
    allowed: `one of ${logLevels.join(', ')}`,
    read: (text) => logLevels.find((level) => level === text),
  }),
}

export type Settings = {
  readonly [Name in keyof typeof settings]: NonNullable<ReturnType<(typeof settings)[Name]['read']>> | NullOf<Name>
}
type NullOf<Name extends keyof typeof settings> = null extends ReturnType<(typeof settings)[Name]['read']> ? null : never

/** Former names. A start with one of them is refused, because Belfry would otherwise run without the setting. */
const renamed = { BELFRY_WEBHOOK_CA: 'BELFRY_CA' }

/** Reads every setting from the environment, or stops at the first that is wrong. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  for (const [former, name] of Object.entries(renamed))
    if (environment[former]?.trim()) throw new StartError(`${former} is now called ${name}. Set ${name} and remove ${former}.`)
  const entries = Object.entries(settings).map(([name, { fallback, allowed, read, secret }]: [string, Setting<unknown>]) => {
    const text = environment[name]?.trim() || fallback
    const value = read(text)
    if (value === undefined) {
      throw new StartError(
        `${name} is ${secret ? 'set to something else' : JSON.stringify(withoutCredentials(text))}: it must be ${allowed}.`,
      )
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
const tokenOfListener = 'BELFRY_TOKEN'

/** Names that look like ours and are not: a slip of the pen would otherwise go unnoticed. */
export function unknownSettings(environment: NodeJS.ProcessEnv) {
  return Object.keys(environment).filter((name) => name.startsWith('BELFRY_') && !(name in settings) && name !== tokenOfListener)
}

/** The settings as `--help` prints them. */
export function describeSettings() {
  return Object.entries(settings)
    .map(([name, { fallback, about }]) => `  ${name.padEnd(28)}${about.replaceAll('`', '')}${fallback ? ` [${fallback}]` : ''}`)
    .join('\n')
}

function readPort(text: string) {
  const port = Number(text)
  return /^\d+$/.test(text) && port <= 65535 ? port : undefined
}

function readNumber(text: string, least: number, most: number) {
  return /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined
}

function readMoment(text: string) {
  const moment = new Date(text)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(moment.getTime()) ? moment : undefined
}

function readAddress(text: string) {
  const url = URL.parse(text)
  const plain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash && !url.username
  return plain ? url : undefined
}

function readEndpoint(text: string) {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && !url.hash ? url : undefined
}

function readCertificates(path: string) {
  try {
    const text = readFileSync(path, 'utf8')
    return text.includes('-----BEGIN CERTIFICATE-----') ? text : undefined
  } catch {
    return undefined
  }
}

function readProxies(text: string) {
  if (text === 'none') return []
  const entries = text.split(',').map((entry) => entry.trim())
  return entries.every(isProxy) ? entries : undefined
}

function isProxy(entry: string) {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(entry)) return true
  const [ip = '', bits, ...rest] = entry.split('/')
  const widest = isIP(ip) === 6 ? 128 : 32
  return isIP(ip) > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest))
}
