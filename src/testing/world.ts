import { resolve } from 'node:path'
import type { SeededApp, SeededUser } from '#seed/format.ts'
import { BelfryTestError, ControlClient, type ServerLife } from './control-client.ts'
import { checkOptions } from './options.ts'
import type {
  Authorization,
  ClockState,
  Delivery,
  DeliveryMatch,
  Fault,
  InstalledFault,
  RecordedRequest,
  RequestMatch,
  WorldAccess,
  WorldOptions,
} from './protocol.ts'

/** The same for calls from JavaScript, which write regular expressions as such. */
export interface Match extends Omit<RequestMatch, 'path'> {
  path?: string | RegExp
}

export interface FaultOptions extends Omit<Fault, 'match'> {
  match?: Omit<Match, 'status'>
}

export interface User extends SeededUser {
  /** For `new Octokit(user.octokitOptions)`: calls the self-hosted API as this user. */
  octokitOptions: OctokitOptions
}

export interface OctokitOptions {
  auth: string
  baseUrl: string
}

/** A Belfry with state, addresses, time and faults of its own. */
export class World<Login extends string = string> {
  /** Pages, git, and the self-hosted API below `/api/v3`. */
  readonly url: string
  /** The versioned API, without a prefix. */
  readonly versionedUrl: string
  readonly adminToken: string
  /** By login. `users.admin` is the site admin. */
  readonly users: Record<Login | 'admin', User>
  /** Tokens of the seed by their names. */
  readonly tokens: Record<string, string>
  readonly oauthApplications: Record<string, { client_id: string; client_secret: string }>
  /** By slug. */
  readonly apps: Record<string, SeededApp>
  /** For `new Octokit(server.octokitOptions)`: calls the self-hosted API as the site admin. */
  readonly octokitOptions: OctokitOptions
  /** The base address of the control API, for other processes and languages. It contains a secret. */
  readonly control: string
  readonly clock: ClockControl
  readonly requests: Requests
  readonly deliveries: Deliveries
  readonly #client: ControlClient
  #closed: Promise<void> | undefined

  constructor(access: WorldAccess, life: ServerLife) {
    this.url = access.url
    this.versionedUrl = access.versioned_url
    this.adminToken = access.admin_token
    const baseUrl = `${access.url}/api/v3`
    this.users = Object.fromEntries(
      Object.entries(access.users).map(([login, user]) => [login, { ...user, octokitOptions: { auth: user.token, baseUrl } }]),
    ) as Record<Login | 'admin', User>
    this.tokens = access.tokens
    this.oauthApplications = access.oauth_applications
    this.apps = access.apps
    this.octokitOptions = { auth: access.admin_token, baseUrl }
    this.control = access.control
    this.#client = new ControlClient(access.control, life)
    this.clock = new ClockControl(this.#client)
    this.requests = new Requests(this.#client)
    this.deliveries = new Deliveries(this.#client)
  }

  /**
   * Puts back the seeded state: rows, repositories, ids and time. Forgets requests, deliveries and faults. Deliveries that wait are not sent any
   * more; those in flight are awaited for two seconds and then cut off.
   */
  async reset(): Promise<void> {
    await this.#client.call('POST', '/reset')
  }

  /**
   * Answers an OAuth application in the web flow, as if the user clicked. `url` is where the program under test sends the browser. Returns where
   * the browser goes next: the callback of the application, with a code, or with an error if the user refuses.
   */
  async authorize(url: string, { user, deny }: { user: Login | 'admin'; deny?: boolean }): Promise<string> {
    const asked: Authorization = { url, user, ...(deny && { deny }) }
    return (await this.#client.call<{ url: string }>('POST', '/authorize', asked)).url
  }

  /** Makes requests that match go wrong, until the reset or until it is removed. */
  async fault(fault: FaultOptions): Promise<InstalledFaultHandle> {
    return new InstalledFaultHandle(this.#client, await this.#client.call<InstalledFault>('POST', '/faults', fault))
  }

  /**
   * Another world in the same server process, with the seed, settings and clock of this one unless given. It is independent of this one, so tests
   * that run at the same time can have one each.
   */
  async world<Logins extends string = Login>(given: WorldOptions<Logins> = {}): Promise<World<Logins>> {
    checkOptions('world', given, ['seed', 'settings', 'clock'])
    const { seed, ...options } = given
    // The server may have been started in another folder.
    const found = typeof seed === 'string' ? resolve(seed) : seed
    const access = await this.#client.call<WorldAccess>('POST', '/worlds', { ...options, seed: found })
    return new World(access, this.#client.life)
  }

  /** Removes the world and its state. */
  close(): Promise<void> {
    this.#closed ??= this.end()
    return this.#closed
  }

  protected async end(): Promise<void> {
    await this.#client.call('DELETE', '')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

export class ClockControl {
  readonly #client: ControlClient

  constructor(client: ControlClient) {
    this.#client = client
  }

  /** Time stands still at this moment until it is moved again. */
  async set(at: Date | string): Promise<Date> {
    const date = new Date(at)
    if (Number.isNaN(date.getTime()))
      throw new BelfryTestError(`clock.set takes a Date, or a date such as '2026-06-01T00:00:00Z', not ${JSON.stringify(at)}.`)
    return this.#move({ set: date.toISOString() })
  }

  /** Moves time forward, by milliseconds or by parts such as `{ hours: 1 }`. Time that was passing goes on passing from there. */
  async advance(by: number | { days?: number; hours?: number; minutes?: number; seconds?: number }): Promise<Date> {
    return this.#move({ advance: milliseconds(by) })
  }

  async now(): Promise<Date> {
    return new Date((await this.#client.call<ClockState>('GET', '/clock')).now)
  }

  async #move(move: { set: string } | { advance: number }) {
    return new Date((await this.#client.call<ClockState>('POST', '/clock', move)).now)
  }
}

const units: Record<string, number> = { days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1000 }

function milliseconds(by: unknown): number {
  if (typeof by === 'number' && by >= 0) return by
  const parts = Object.entries(typeof by === 'object' && by ? by : {})
  const known = ([name, value]: [string, unknown]) => units[name] && Number.isFinite(value) && Number(value) >= 0
  if (!parts.length || !parts.every(known)) {
    const wanted = `a number of milliseconds, or an object of ${Object.keys(units).join(', ')}, such as { hours: 1 }`
    throw new BelfryTestError(
      `clock.advance takes ${wanted}, not ${JSON.stringify(by)}. Time cannot go back; use clock.set for that.`,
    )
  }
  return parts.reduce((sum, [name, value]) => sum + (units[name] ?? 0) * value, 0)
}

/** What clients asked since the start or the last reset. The last 2000 are kept. */
export class Requests {
  readonly #client: ControlClient

  constructor(client: ControlClient) {
    this.#client = client
  }

  /** In the order in which they came. */
  list(match: Match = {}): Promise<RecordedRequest[]> {
    return this.#client.call('POST', '/requests', match)
  }

  async count(match: Match = {}): Promise<number> {
    return (await this.list(match)).length
  }

  /** Throws an error that lists the requests if the number differs. */
  async assertCount(expected: number, match: Match = {}): Promise<RecordedRequest[]> {
    if (!Number.isInteger(expected))
      throw new BelfryTestError('assertCount takes the number first, then the match: assertCount(2, { path: "/user" }).')
    const found = await this.list(match)
    if (found.length === expected) return found
    const all = (await this.list()).map(
      ({ method, path, query, status, user, conditional }) =>
        `  ${method} ${path}${Object.keys(query).length ? `?${new URLSearchParams(query)}` : ''} as ${user ?? 'nobody'}` +
        `${conditional ? ', conditional' : ''}: ${status ?? 'no response yet'}`,
    )
    const { path, ...rest } = match
    const wanted = JSON.stringify({ ...rest, ...(path !== undefined && { path: String(path) }) })
    throw new BelfryTestError(
      `Expected ${expected} requests that match ${wanted}, but there were ${found.length}. ${all.length ? `All requests:\n${all.join('\n')}` : 'There was no request at all.'}`,
    )
  }

  /** Throws an error that lists the requests to addresses that Belfry does not serve. */
  async assertServed(): Promise<void> {
    const unserved = (await this.list()).filter((request) => request.unserved)
    if (!unserved.length) return
    const lines = unserved.map((request) => `  ${request.method} ${request.path}`)
    throw new BelfryTestError(`Belfry does not serve these addresses:\n${lines.join('\n')}`)
  }

  async clear(): Promise<void> {
    await this.#client.call('DELETE', '/requests')
  }
}

/** Webhook deliveries since the start or the last reset, after the receiver answered or could not be reached. */
export class Deliveries {
  readonly #client: ControlClient

  constructor(client: ControlClient) {
    this.#client = client
  }

  list<Event extends string, Action extends string>(
    match: DeliveryMatch<Event, Action> = {},
  ): Promise<Delivery<Event, Action>[]> {
    return this.#client.call('POST', '/deliveries', match)
  }

  /**
   * The first delivery that matches and that `next` has not returned before, also if it was sent before the call. Waits for it up to `timeout`
   * milliseconds, 5000 unless given; then throws an error that lists all deliveries.
   */
  next<Event extends string, Action extends string>(
    match: DeliveryMatch<Event, Action> = {},
    { timeout = 5000 }: { timeout?: number } = {},
  ): Promise<Delivery<Event, Action>> {
    return this.#client.call('POST', '/deliveries/next', { match, timeout })
  }

  /**
   * Waits until no delivery is due or in flight, and no job that could cause one, up to `timeout` milliseconds, 5000 unless given. Returns all
   * deliveries. Automatic retries of failed ones come later and are not awaited.
   */
  settled({ timeout = 5000 }: { timeout?: number } = {}): Promise<Delivery[]> {
    return this.#client.call('POST', '/deliveries/settled', { timeout })
  }
}

/** A fault that `server.fault` made. */
export class InstalledFaultHandle {
  readonly id: number
  readonly #client: ControlClient

  constructor(client: ControlClient, { id }: InstalledFault) {
    this.#client = client
    this.id = id
  }

  /** How many requests it has met, also after it was removed. */
  async hits(): Promise<number> {
    return (await this.#client.call<Pick<InstalledFault, 'hits'>>('GET', `/faults/${this.id}`)).hits
  }

  async remove(): Promise<void> {
    await this.#client.call('DELETE', `/faults/${this.id}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove()
  }
}
