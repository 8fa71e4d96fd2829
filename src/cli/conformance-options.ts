import { checks } from '#conformance/checks.ts'
import type { TargetOptions } from '#conformance/target.ts'
import { trimTrailing } from '#platform/trim.ts'
import { readArguments, UsageError } from './command.ts'

export const help = `Checks that a server behaves as the specification of the API says, over HTTP only.

Usage: npx belfry conformance URL [URL] --token TOKEN [options]

URL is the address of a server, or of its API. If there is an API below /api/v3, it is of the self-hosted variant; otherwise, of the versioned
one. Give two addresses to check both. Each check is one statement of the specification: npx belfry conformance --list lists them.

Repositories, webhooks and tokens that a run makes have names like conformance-1a2b3c4d-repository-1, and are deleted at the end, also after
Ctrl-C. What cannot be deleted is listed. The authorizations of the given OAuth applications are revoked. Stars and notifications of other repositories are not changed. Still, use an account made for it.

Callers:
  --token TOKEN           a classic personal token with the scopes repo, delete_repo, notifications and user [BELFRY_CONFORMANCE_TOKEN]
  --other-token TOKEN     the same of a second user, for notifications and access [BELFRY_CONFORMANCE_OTHER_TOKEN]
  --password PASSWORD     of the user of --token, for Basic authentication, scopes, and to sign in at the pages [BELFRY_CONFORMANCE_PASSWORD]
  --session COOKIES       of a session of that user at the pages, if a password is not enough there [BELFRY_CONFORMANCE_SESSION]
  --client-id ID          an OAuth application of the server, with --client-secret [BELFRY_CONFORMANCE_CLIENT_ID]
  --client-secret SECRET  [BELFRY_CONFORMANCE_CLIENT_SECRET]
  --local-client-id ID    another application, whose callback is a localhost address [BELFRY_CONFORMANCE_LOCAL_CLIENT_ID]
Checks for which one of them is missing are skipped, and say so.

Server:
  --variant VARIANT       self-hosted or versioned, if it is not to be detected
  --web URL               where the pages for OAuth are [as GET /user says in html_url; the self-hosted variant: the address without /api/v3]
  --receiver HOST:PORT    where this command listens for webhook deliveries, as the server reaches it; "none" skips their checks
                          [a free port of 127.0.0.1, if the server is on this machine]
Requests go to these addresses only: a response that links to another server fails its check. For a certificate of your own authority, set
NODE_EXTRA_CA_CERTS to its file.

Run:
  --only PATTERN          only checks whose id or operation contains this text; may be repeated
  --slow                  also the check of the time after which a code of the web flow expires, which takes 10 minutes
  --list                  list the checks, and make none
  --concurrency N         checks at a time [4]
  --timeout SECONDS       that a request may take, and that a check waits for what follows from one [15]
  --limit SECONDS         after which no further check begins [1800]

Report:
  --json [FILE]           write the report as JSON, to standard output without FILE
  --html FILE             write the report as a page

The exit code is 0 if checks passed and none failed; 1 if one failed, none could be made, the run did not end, or something could not be deleted;
and 2 for wrong options.`

export interface Options {
  urls: string[]
  target: Omit<TargetOptions, 'url'>
  /** Undefined for the default, null for none. */
  receiver: { host: string; port: number } | null | undefined
  only: string[]
  slow: boolean
  list: boolean
  concurrency: number
  /** Milliseconds. */
  limit: number
  /** `-` is standard output. */
  json: string | undefined
  html: string | undefined
}

const wrong = (message: string) => new UsageError(message, 'conformance')

export function readOptions(given: string[], environment: NodeJS.ProcessEnv): Options {
  const text = { type: 'string' } as const
  const { values, positionals } = readArguments('conformance', withOptionalFile(given), {
    token: text,
    'other-token': text,
    password: text,
    session: text,
    'client-id': text,
    'client-secret': text,
    'local-client-id': text,
    variant: text,
    web: text,
    receiver: text,
    only: { ...text, multiple: true, default: [] },
    slow: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    concurrency: { ...text, default: '4' },
    timeout: { ...text, default: '15' },
    limit: { ...text, default: '1800' },
    json: text,
    html: text,
  })
  type Secret = 'token' | 'other-token' | 'password' | 'session' | 'client-id' | 'client-secret' | 'local-client-id'
  const secret = (name: Secret) =>
    (values[name] ?? environment[`BELFRY_CONFORMANCE_${name.toUpperCase().replaceAll('-', '_')}`]) || undefined
  const urls = positionals.map(readUrl)
  const token = secret('token')
  const [client_id, client_secret] = [secret('client-id'), secret('client-secret')]
  if (!values.list) {
    if (urls.length === 0) throw wrong('The address of the server is missing')
    if (urls.length > 2) throw wrong('At most two addresses are checked')
    if (token === undefined) throw wrong('--token is missing')
    if ((client_id === undefined) !== (client_secret === undefined)) throw wrong('Give --client-id and --client-secret together')
  }
  const only = values.only.filter((pattern) => {
    if (!checks.some(({ id, operation }) => `${id} ${operation}`.includes(pattern))) throw wrong(`No check contains "${pattern}"`)
    return true
  })
  return {
    urls,
    target: {
      token: token ?? '',
      other_token: secret('other-token'),
      password: secret('password'),
      session: secret('session'),
      application: client_id && client_secret ? { client_id, client_secret } : undefined,
      local_client_id: secret('local-client-id'),
      variant: readVariant(values.variant),
      web: values.web === undefined ? undefined : trimTrailing(readUrl(values.web), '/'),
      timeout: 1000 * readNumber('timeout', values.timeout, 600),
    },
    receiver: readReceiver(values.receiver),
    only,
    slow: values.slow,
    list: values.list,
    concurrency: readNumber('concurrency', values.concurrency, 32),
    limit: 1000 * readNumber('limit', values.limit, 9999),
    json: values.json,
    html: values.html,
  }
}

/** `--json` without a file before another option, an address or the end. */
const withOptionalFile = (given: string[]) =>
  given.map((word, index) => {
    const next = given[index + 1]
    return word === '--json' && (next === undefined || /^(-.|https?:)/.test(next)) ? '--json=-' : word
  })

function readUrl(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong(`"${text}" is no address of a server`)
  return `${url.origin}${url.pathname}`
}

function readVariant(text: string | undefined) {
  if (text === undefined || text === 'self-hosted' || text === 'versioned') return text
  throw wrong(`"${text}" is no variant. Known are self-hosted and versioned`)
}

function readNumber(name: string, text: string, most: number) {
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > most) throw wrong(`--${name} is "${text}". Give a number from 1 to ${most}`)
  return Number(text)
}

function readReceiver(text: string | undefined) {
  if (text === undefined) return undefined
  if (text === 'none') return null
  const [, bracketed, plain, port = ''] = /^(?:\[([\da-f:]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535)
    throw wrong(`--receiver is "${text}". Give a host and a port, such as 192.0.2.7:8080`)
  return { host, port: Number(port) }
}
