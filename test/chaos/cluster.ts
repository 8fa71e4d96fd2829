import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseProxy } from '#test/database-proxy.ts'
import type { Worktree } from '#test/git.ts'
import { freePort } from '#test/machine.ts'
import { type BelfryProcess, Host, newToken } from '#test/process.ts'
import { ReplicatedPostgres } from '#test/replicated-postgres.ts'
import { Disk } from './disk.ts'

export interface Node {
  place: number
  web: string
  process: BelfryProcess
  /** The file that says how wrong its clock is, see clock.ts. */
  clock: string
}

export interface Account {
  login: string
  token: string
}

export interface Response {
  /** Undefined if no response came. */
  status: number | undefined
  bytes: Buffer
  etag: string | null
  /** When the request was sent, by `performance.now()`. */
  began: number
}

export interface Asked extends Response {
  // biome-ignore lint/suspicious/noExplicitAny: the load looks into responses of every shape.
  json: any
}

/** Longer than any fault holds a node, shorter than a round. */
const patience = 12_000

/** Nodes on one data folder, and a PostgreSQL with a synchronous standby, each behind a proxy. */
export class Cluster implements AsyncDisposable {
  readonly disk: Disk
  readonly postgres: ReplicatedPostgres
  readonly proxies: DatabaseProxy[]
  readonly nodes: Node[] = []
  readonly admin: Account = { login: 'admin', token: newToken() }
  readonly #host: Host
  /** Nodes that were killed or stopped: what they logged counts too. */
  readonly #ended: BelfryProcess[] = []
  readonly #undo: AsyncDisposableStack

  static async open(nodes: number) {
    await using undo = new AsyncDisposableStack()
    const disk = undo.use(await Disk.open())
    const postgres = undo.use(await ReplicatedPostgres.open())
    const ports = [postgres.primary.port, postgres.standby.port]
    const proxies = await Promise.all(ports.map(async (port) => undo.use(await DatabaseProxy.open(port))))
    const host = undo.use(await Host.open())
    host.data = join(disk.folder, 'data')
    await mkdir(host.data)
    const cluster = new Cluster(disk, postgres, proxies, host, undo.move())
    try {
      cluster.nodes.push(...(await Promise.all(Array.from({ length: nodes }, (_, place) => cluster.#open(place)))))
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  constructor(disk: Disk, postgres: ReplicatedPostgres, proxies: DatabaseProxy[], host: Host, undo: AsyncDisposableStack) {
    this.disk = disk
    this.postgres = postgres
    this.proxies = proxies
    this.#host = host
    this.#undo = undo
  }

  get data() {
    return this.#host.data
  }

  /** The folder of a repository. */
  folderOf(repo_id: number) {
    return join(this.data, 'repositories', (repo_id % 256).toString(16).padStart(2, '0'), `${repo_id}.git`)
  }

  /** What `npx belfry admin` is told, which uses no proxy. */
  get environment() {
    return { BELFRY_DATA: this.data, DATABASE_URL: `postgres://belfry@127.0.0.1:${this.postgres.primary.port}/belfry` }
  }

  async #open(place: number): Promise<Node> {
    const clock = join(this.#host.folder, `clock-${place}`)
    await writeFile(clock, '0')
    const web = `http://127.0.0.1:${await freePort()}`
    return { place, web, clock, process: await this.#launch(web, clock) }
  }

  #launch(web: string, clock: string) {
    const servers = this.proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')
    return this.#host.start({
      before: `export NODE_OPTIONS="--import=${import.meta.resolve('./clock.ts')}"`,
      settings: {
        DATABASE_URL: `postgres://belfry@${servers}/belfry`,
        BELFRY_ADMIN_TOKEN: this.admin.token,
        BELFRY_PORT: new URL(web).port,
        BELFRY_VERSIONED_PORT: '0',
        BELFRY_LOG: 'warn',
        CHAOS_CLOCK: clock,
      },
    })
  }

  /** Starts a node again that was killed, on its port. */
  async restart(node: Node) {
    this.#ended.push(node.process)
    node.process = await this.#launch(node.web, node.clock)
  }

  /** Promotes the standby and gives it a new standby, which the proxy of the lost server leads to. */
  async failOver(hold: () => Promise<void>) {
    const lost = this.postgres.primary.port
    await this.postgres.failOver()
    await hold()
    await this.postgres.addStandby()
    for (const proxy of this.proxies) if (proxy.target === lost) proxy.target = this.postgres.standby.port
  }

  /** A new account with its token. */
  async join(login: string, scopes: string[]): Promise<Account> {
    await this.demand(this.admin, 'POST', '/admin/users', { login, email: `${login}@example.com` })
    const { token } = await this.demand(this.admin, 'POST', `/admin/users/${login}/authorizations`, { scopes })
    return { login, token }
  }

  /** Sends a request to a node, and gives up on it when no response comes. Redirects are followed. */
  async send(
    node: Node,
    { token }: Account,
    method: string,
    path: string,
    body?: BodyInit,
    etag?: string | null,
  ): Promise<Response> {
    const began = performance.now()
    const headers = { authorization: `Bearer ${token}`, ...(etag && { 'if-none-match': etag }) }
    try {
      const signal = AbortSignal.timeout(patience)
      const answer = await fetch(`${node.web}${path}`, { method, headers, body: body ?? null, signal })
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, bytes, etag: answer.headers.get('etag'), began }
    } catch {
      return { status: undefined, bytes: Buffer.alloc(0), etag: null, began }
    }
  }

  /** The same to the API, with JSON. */
  async ask(node: Node, account: Account, method: string, path: string, body?: object, etag?: string | null): Promise<Asked> {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const response = await this.send(node, account, method, `/api/v3${path}`, sent, etag)
    const text = response.bytes.toString()
    return { ...response, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined }
  }

  /** Pushes the commit that a clone is at, over a node. A paused node is given up on, as a user would. */
  push(node: Node, { login, token }: Account, clone: Worktree, full_name: string, branch: string, ...options: string[]) {
    const url = `${node.web.replace('://', `://${login}:${token}@`)}/${full_name}.git`
    const limits = ['-c', 'http.lowSpeedLimit=1', '-c', 'http.lowSpeedTime=10']
    return clone.attempt(...limits, 'push', '--quiet', ...options, url, `HEAD:refs/heads/${branch}`)
  }

  /** The same, which must succeed: for what the load begins with. A busy machine may give a 503. */
  async demand(account: Account, method: string, path: string, body?: object) {
    const [node] = this.nodes as [Node]
    for (let attempt = 1; ; attempt++) {
      const { status, json } = await this.ask(node, account, method, path, body)
      if (status && status < 300) return json
      if (status !== 503 || attempt === 20) throw new Error(`${method} ${path} gave ${status}: ${JSON.stringify(json)}`)
      await sleep(500)
    }
  }

  /** Messages that nodes logged at the level of errors, with how often. */
  errors() {
    const counts: Record<string, number> = {}
    for (const { stderr } of [...this.#ended, ...this.nodes.map(({ process }) => process)])
      for (const line of stderr.split('\n')) {
        if (!/^\{"level":[56]0.*\}$/.test(line)) continue
        const { msg, err } = JSON.parse(line)
        const message = err ? `${msg}: ${err.message}`.slice(0, 300) : msg
        counts[message] = (counts[message] ?? 0) + 1
      }
    return counts
  }

  [Symbol.asyncDispose]() {
    return this.#undo.disposeAsync()
  }
}
