import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { newestOf, readTimeline } from './database-servers.ts'
import { within } from './deadline.ts'
import { isDisconnected } from './unavailable.ts'

/** In milliseconds; tests shorten them. */
export interface HealthLimits {
  /** Whether a server that accepts no writes is good enough. */
  reads_standby: boolean
  /** When a statement gets no answer for this long, we ask the server through another connection whether it is working on it. */
  suspicion: number
  /** Limit for connecting and one query; a slower server counts as away. Halved while the server is away, to notice its return soon. */
  probe: number
  /** Between two probes while the database is away. */
  retry: number
}

const usual: HealthLimits = { reads_standby: false, suspicion: 1500, probe: 3000, retry: 500 }

/** A connection of a pool, as far as the driver shows it; its types leave this out. */
type Client = pg.ClientBase & {
  processID: number | null
  readyForQuery: boolean
  connection: { stream: NodeJS.Socket & { bytesRead: number; destroy(): void; setTimeout(milliseconds: number): void } }
}

interface Watched {
  opened_at: number
  /** How long the server may be silent during a statement. */
  longest: number
  onSilence: () => void
  /** When the current silence began, and how many bytes the connection had received by then. */
  silent: { since: number; bytes: number; doubted: boolean } | undefined
}

/**
 * Tracks whether the database answers. Without problems, there are no probes. When a statement waits or a connection breaks, we probe with
 * a new connection. If the server answers, we close the connections on which it is not working. If it does not, we close all connections,
 * refuse every statement at once, and probe until it answers. The operating system's time-outs are too long: when a packet filter drops
 * packets, a connection stays open for a quarter of an hour.
 *
 * Of several servers, the one that accepts writes is used. When it is away or has become a standby, all are probed until one accepts writes.
 * If a former primary still accepts them, because nothing could stop it, its commits wait for a standby that follows another one. The
 * probe then finds the one that was promoted last.
 */
export class DatabaseHealth {
  readonly #servers: pg.ClientConfig[]
  #current: pg.ClientConfig
  readonly #limits: HealthLimits
  readonly #clients = new Map<Client, Watched>()
  /** Server processes whose connections we closed. They may not have noticed, and still hold locks. */
  readonly #abandoned = new Map<number, number>()
  readonly #listeners = new Set<(away: boolean) => void>()
  readonly #on_move: (server: pg.ClientConfig) => void
  #away = false
  #outages = 0
  /** When the process of the current server started, which tells servers behind one address apart. */
  #started: string | undefined
  #probing: Promise<void> | undefined
  readonly #probe_clients = new Set<Client>()
  readonly #closed = new AbortController()

  /** Calls `onMove` with the server that new connections go to from now on. There is at least one server. */
  constructor(
    servers: pg.ClientConfig[],
    limits: Partial<HealthLimits> = {},
    onMove: (server: pg.ClientConfig) => void = () => {},
  ) {
    this.#servers = servers
    this.#current = servers[0] ?? {}
    this.#on_move = onMove
    this.#limits = { ...usual, ...limits }
  }

  get away() {
    return this.#away
  }

  /** How often the database was away, another server took its place, or an earlier state did. */
  get outages() {
    return this.#outages
  }

  noteRewound() {
    this.#outages++
  }

  /** Calls `listener` when the database goes away and when it is back. */
  onChange(listener: (away: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Watches every connection of a pool. A connection is closed when the server is silent for longer than `longest` during a statement. */
  watch(pool: pg.Pool, longest: number) {
    pool.on('connect', (client) => this.#open(client as unknown as Client, longest))
    pool.on('remove', (client) => this.unwatch(client))
    // An idle connection that breaks leaves the pool by itself. Its error, if unhandled, would end the process.
    pool.on('error', () => this.suspect())
  }

  #open(client: Client, longest: number) {
    client.on('error', () => this.suspect())
    const watched: Watched = { opened_at: performance.now(), longest, onSilence: () => this.#silent(client), silent: undefined }
    this.#clients.set(client, watched)
    client.connection.stream.setTimeout(this.#limits.suspicion)
    client.connection.stream.on('timeout', watched.onSilence)
  }

  /** Removes the limits from a connection, as for a migration. */
  unwatch(client: pg.ClientBase) {
    this.#forget(client as Client)
  }

  #forget(client: Client) {
    const watched = this.#clients.get(client)
    if (!watched) return
    this.#clients.delete(client)
    client.connection.stream.setTimeout(0)
    client.connection.stream.off('timeout', watched.onSilence)
  }

  #silent(client: Client) {
    const watched = this.#clients.get(client)
    if (!watched || client.readyForQuery) return
    const { bytesRead: bytes } = client.connection.stream
    const now = performance.now()
    if (watched.silent?.bytes !== bytes) watched.silent = { since: now - this.#limits.suspicion, bytes, doubted: false }
    if (now - watched.silent.since >= watched.longest) return this.#abandon(client)
    client.connection.stream.setTimeout(this.#limits.suspicion)
    this.suspect()
  }

  /** Starts a probe. */
  suspect() {
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined
    })
  }

  async #probe() {
    const { signal } = this.#closed
    while (!signal.aborted) {
      const answered = await this.#ask()
      if (signal.aborted) return
      if (answered) return this.#change(false)
      this.#change(true)
      await sleep(this.#limits.retry, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #change(away: boolean) {
    if (away) for (const client of [...this.#clients.keys()]) this.#abandon(client)
    if (away === this.#away) return
    this.#away = away
    if (away) {
      this.#outages++
      this.#started = undefined
    }
    for (const listener of this.#listeners) listener(away)
  }

  /** Whether a server that accepts writes answers a new connection in time. We stay with the current one if it does. */
  async #ask(): Promise<boolean> {
    const others = this.#servers.filter((server) => server !== this.#current)
    const ask = async (server: pg.ClientConfig) => ({ server, timeline: await this.#askOther(server) })
    const [timeline, ...found] = await Promise.all([this.#askCurrent(), ...others.map(ask)])
    const primary = newestOf([{ server: this.#current, timeline }, ...found])
    if (primary && primary !== this.#current) this.#move(primary)
    return primary !== undefined
  }

  #move(server: pg.ClientConfig) {
    this.#change(true)
    // They are processes of the other server.
    this.#abandoned.clear()
    this.#current = server
    this.#on_move(server)
  }

  /** An error that the server sends, such as too many connections, is an answer: we stay with it. */
  async #askCurrent(): Promise<number | undefined> {
    try {
      return await this.#withProbe(this.#current, (client) => this.#question(client))
    } catch (error) {
      return isDisconnected(error) ? undefined : Infinity
    }
  }

  #askOther(server: pg.ClientConfig): Promise<number | undefined> {
    return this.#withProbe(server, (client) => this.#examine(client)).catch(() => undefined)
  }

  async #withProbe<T>(server: pg.ClientConfig, ask: (client: Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ ...server, application_name: 'belfry probe' }) as unknown as Client
    this.#probe_clients.add(client)
    client.on('error', () => {})
    const answer = async () => {
      await (client as unknown as pg.Client).connect()
      return ask(client)
    }
    try {
      return await within(this.#limits.probe / (this.#away ? 2 : 1), answer())
    } finally {
      this.#probe_clients.delete(client)
      client.connection.stream.destroy()
    }
  }

  async #question(client: Client): Promise<number | undefined> {
    const timeline = await this.#examine(client)
    if (timeline === undefined) return undefined
    const silent = [...this.#clients].filter(([, watched]) => watched.silent)
    const { rows } = await client.query<{ own: number; busy: number[] }>(
      `select pg_backend_pid() as own, array(select pid from pg_stat_activity where pid = any($1) and state = 'active') as busy`,
      [silent.map(([{ processID }]) => processID)],
    )
    const [{ own, busy } = { own: 0, busy: [] }] = rows
    // A connection pooler invents process ids.
    if (own !== client.processID) return timeline
    for (const [one, watched] of silent) {
      const { silent: known } = watched
      if (!known || one.readyForQuery || known.bytes !== one.connection.stream.bytesRead) watched.silent = undefined
      else if (busy.includes(one.processID ?? 0)) known.doubted = false
      // The answer may be on its way, so we close the connection only after two probes.
      else if (known.doubted) this.#abandon(one)
      else known.doubted = true
    }
    await this.#endAbandoned(client)
    return timeline
  }

  /** The timeline of a server that we can use. For reads, a standby is preferred. */
  async #examine(client: Client): Promise<number | undefined> {
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    const standby = rows[0]?.standby
    if (this.#limits.reads_standby) return standby ? 1 : 0
    if (standby !== false) return undefined
    return this.#servers.length > 1 ? readTimeline(client) : 0
  }

  /**
   * Takes the start time of the server that a new connection of a pool leads to. Behind one address, such as a proxy's, another server may
   * have taken the place of the current one. Connections to that one are closed.
   */
  identify(started: string | undefined) {
    const former = this.#started
    this.#started = started
    // A proxy in front of standbys may lead to any of them.
    if (former === undefined || former === started || this.#limits.reads_standby) return
    this.#change(true)
    this.#abandoned.clear()
    // A probe that runs finds out by itself whether the server accepts writes.
    this.suspect()
  }

  #abandon(client: Client) {
    const watched = this.#clients.get(client)
    if (watched && client.processID !== null) this.#abandoned.set(client.processID, watched.opened_at)
    this.#forget(client)
    client.connection.stream.destroy()
  }

  /** Ends sessions that the server keeps for connections which we closed, to release their locks. */
  async #endAbandoned(client: Client) {
    const now = performance.now()
    const gone = [...this.#abandoned].map(([pid, opened_at]) => ({ pid, age: now - opened_at }))
    if (!gone.length) return
    this.#abandoned.clear()
    // A process id may belong to another session by now; then its start time differs. A session starts before we know that it has.
    await client
      .query(
        `select pg_terminate_backend(a.pid) from pg_stat_activity a, unnest($1::integer[], $2::float8[]) as gone(pid, age)
         where a.pid = gone.pid and a.usename = current_user and a.datname = current_database()
           and a.backend_start between clock_timestamp() - (age + 10000) * interval '1 millisecond'
             and clock_timestamp() - age * interval '1 millisecond'`,
        [gone.map(({ pid }) => pid), gone.map(({ age }) => age)],
      )
      .catch(() => {})
  }

  async close() {
    this.#closed.abort(closed)
    for (const client of this.#probe_clients) client.connection.stream.destroy()
    await this.#probing
    this.#listeners.clear()
  }
}

/** Shared, because an error keeps what is on the stack alive, and libraries keep pools, which refer to this, for the life of the process. */
const closed = new Error('the database is closed')
