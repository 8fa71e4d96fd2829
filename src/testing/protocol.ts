import type { Seed, SeededApp, SeededUser } from '#seed/format.ts'
import type { PayloadOf } from './payloads.ts'

/** What the control API of a test server and `belfry/testing` say to each other. See docs/testing.md. */

/** How to reach a world: the line that `npx belfry test-server` prints, and what `reset` and `worlds` answer. */
export interface WorldAccess {
  /** Pages, git, and the self-hosted API below `/api/v3`. */
  url: string
  /** The versioned API, without a prefix. */
  versioned_url: string
  admin_token: string
  /** By login. */
  users: Record<string, SeededUser>
  /** Tokens of the seed by their names. */
  tokens: Record<string, string>
  oauth_applications: Record<string, { client_id: string; client_secret: string }>
  /** By slug. */
  apps: Record<string, SeededApp>
  /** The base of the control API of this world. It contains a secret. */
  control: string
}

/** `Login` is the union of the logins, if they are written in the call. */
export interface WorldOptions<Login extends string = string> {
  /** What the world contains: an object, or the path of a YAML or JSON file. See docs/seed.md. Unset: only the site admin. */
  seed?: (Seed & { users?: { login: Login }[] }) | string
  /** Settings as the environment would give them, such as `{ BELFRY_RATE_LIMIT: 'on' }`. */
  settings?: Record<string, string>
  /** Time stands still at this moment, such as `2026-06-01T00:00:00Z`, until the test moves it. Unset: the time of the system. */
  clock?: string
}

export interface ClockState {
  now: string
  /** Whether time passes by itself. */
  running: boolean
}

/** Which requests. Everything that is given must match. */
export interface RequestMatch {
  method?: string
  /** Below the base of the API, such as `/repos/octo/*`. `*` stands for one segment and `**` for any number of them, also in the middle. */
  path?: string | PathPattern
  /** The login whose token was sent, if it is a token of the seed or the admin's. */
  user?: string
  status?: number
}

/** A regular expression, as JSON. */
export interface PathPattern {
  source: string
  flags: string
}

export interface RecordedRequest {
  /** 1 for the first since the start or the last reset. */
  number: number
  method: string
  /** Without the `/api/v3` of the self-hosted API, so that it is the same for both. */
  path: string
  query: Record<string, string>
  api: 'self_hosted' | 'versioned'
  user: string | null
  /** Names in small letters. Credentials are left out. */
  headers: Record<string, string>
  /** Whether it had `If-None-Match` or `If-Modified-Since`. */
  conditional: boolean
  /** Parsed if it is JSON, up to 16 KB; null otherwise. */
  body: unknown
  /** Null while there is no response. */
  status: number | null
  /** The id of the fault that answered or delayed it. */
  fault: number | null
  /** Whether Belfry serves no such address and method. */
  unserved: boolean
}

/** What goes wrong with requests that match. */
export interface Fault {
  /** All requests unless given. A fault happens before there is a status. */
  match?: Omit<RequestMatch, 'status'>
  /** Answers with this status instead of serving the request. */
  status?: number
  headers?: Record<string, string>
  /** The body of that answer. An object is sent as JSON. */
  body?: unknown
  /** Milliseconds before anything else happens. */
  delay?: number
  /** `true` closes the connection at once; `response` does what was asked and closes it instead of answering. */
  drop?: true | 'response'
  /** Ends after so many requests. Until the reset unless given. */
  times?: number
  /** Answers as if the hour's requests were used up: 403, or 429 with `status: 429`. */
  rate_limit?: 'exhausted'
  /** Answers as if requests came too fast: 403 with `Retry-After`, or 429 with `status: 429`. */
  secondary_limit?: true
  /** Seconds until a limit ends, for its headers: 3600 for `rate_limit` and 60 for `secondary_limit` unless given. */
  retry_after?: number
  /** Answers 401, as for a token that has expired. */
  expired_token?: true
}

export interface InstalledFault extends Fault {
  id: number
  /** How many requests it has met. */
  hits: number
}

/** An answer of a user to an OAuth application. */
export interface Authorization {
  /** Where the application sends the browser: `/login/oauth/authorize` with its parameters. */
  url: string
  /** The login of the user who answers. */
  user: string
  /** Refuses instead of agreeing. */
  deny?: true
}

/** Which deliveries. Everything that is given must match. */
export interface DeliveryMatch<Event extends string = string, Action extends string = string> {
  event?: Event
  action?: Action
  /** `owner/name`. */
  repository?: string
  /** The receiver. */
  url?: string
}

export interface Delivery<Event extends string = string, Action extends string = string> {
  id: number
  guid: string
  event: Event
  action: string | null
  /** `owner/name`; null for events of organizations and apps. */
  repository: string | null
  hook_id: number
  url: string
  headers: Record<string, string>
  payload: PayloadOf<Event, Action>
  redelivery: boolean
  delivered_at: string
  /** What the receiver answered: a status such as 200, or 502 and the like if it could not be reached. */
  status_code: number
  status: string
}
