import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, at, Mismatch, preparing, type Row, Skip } from './answer.ts'
import { Client, type Wiring } from './client.ts'
import { Liveness } from './liveness.ts'
import type { Inbox, Receiver } from './receiver.ts'
import type { Target } from './target.ts'
import { Visitor } from './visitor.ts'

export interface Repo {
  name: string
  full_name: string
  /** `/repos/{owner}/{repo}` */
  path: string
  row: Row
}

interface Made {
  /** As the report lists it if it cannot be deleted. */
  what: string
  remove(): Promise<unknown>
}

/** What checks need on the server: everything has a random name, and is deleted at the end. */
export class Workspace {
  /** Part of every name, so that people recognize it. */
  readonly run = randomBytes(4).toString('hex')
  readonly me: Client
  readonly #target: Target
  readonly #receiver: Receiver | string
  readonly #signal: AbortSignal
  readonly #liveness = new Liveness()
  readonly #made: Made[] = []
  readonly #shared = new Map<string, Promise<unknown>>()
  #count = 0

  /** `receiver` may be the reason why there is none. */
  constructor(target: Target, receiver: Receiver | string, signal: AbortSignal) {
    this.#target = target
    this.#receiver = receiver
    this.#signal = signal
    this.me = this.#client(target.token)
  }

  wiring(signal: AbortSignal): Wiring {
    const { base, web, timeout } = this.#target
    return { base, web, timeout, signal, liveness: this.#liveness }
  }

  #client(token: string, signal = this.#signal) {
    return new Client(this.wiring(signal), { authorization: `Bearer ${token}` })
  }

  get #patience() {
    return { timeout: this.#target.timeout, signal: this.#signal }
  }

  /** For what also runs after an interruption. */
  #cleaner = (token: string) => this.#client(token, new AbortController().signal)

  get other(): Client {
    if (!this.#target.other) throw new Skip('It needs a second user: give --other-token.')
    return this.#client(this.#target.other.token)
  }

  name(word = 'repository') {
    return `conformance-${this.run}-${word}-${++this.#count}`
  }

  /** Made once, by the first check that needs it. */
  once<Value>(key: string, make: () => Promise<Value>): Promise<Value> {
    const known = this.#shared.get(key) as Promise<Value> | undefined
    if (known) return known
    const made = make()
    this.#shared.set(key, made)
    return made
  }

  /** A new repository with a first commit, of a user or an organization. */
  async repo(
    fields: Row = {},
    client = this.me,
    login = this.#target.login,
    kind: 'user' | 'organization' = 'user',
  ): Promise<Repo> {
    const token = client === this.me ? this.#target.token : (this.#target.other?.token ?? '')
    await this.once(`deletion of ${login}`, () => this.#tryDeletion(token, login, kind))
    return this.#createRepo(fields, token, login, kind)
  }

  /** A run makes many repositories, so it makes no second one if the first cannot be deleted. */
  async #tryDeletion(token: string, login: string, kind: 'user' | 'organization') {
    const { path } = await this.#createRepo({}, token, login, kind)
    const problem = await this.#removal(path, token).catch((error: Error) => error)
    if (problem) throw new Skip(`It needs repositories, and the server does not delete them: ${problem.message}.`)
  }

  async #createRepo(fields: Row, token: string, login: string, kind: 'user' | 'organization'): Promise<Repo> {
    const name = this.name()
    const path = `/repos/${login}/${name}`
    const client = this.#client(token)
    // Registered before it exists, because an interrupted request may have created it.
    this.undoLater(`repository ${login}/${name}`, () => this.#removal(path, token))
    const created = await client.post(kind === 'user' ? '/user/repos' : `/orgs/${login}/repos`, {
      name,
      description: 'Made by a conformance run',
      auto_init: true,
      ...fields,
    })
    if (kind === 'organization' && [403, 404].includes(created.status))
      throw new Skip(`The user of --token cannot create repositories in ${login}.`)
    return { name, full_name: `${login}/${name}`, path, row: created.prepares().row() }
  }

  async #removal(path: string, token: string, headers: Record<string, string> = {}) {
    const client = this.#cleaner(token).with(headers)
    const answer = await client.delete(path)
    // A check renamed it.
    const moved = [301, 307, 308].includes(answer.status) ? answer.headers.get('location') : null
    const { status } = moved === null ? answer : await client.delete(moved)
    // A server that cannot delete may answer 404 too, and one that created nothing may answer 403.
    const isGone = [200, 202, 204].includes(status) || (await client.get(path)).status === 404
    if (!isGone) throw new Error(`DELETE ${path} gave status ${status}`)
  }

  /** Deletes a record at the end that is not part of a repository. */
  deleteLater(what: string, path: string, headers: Record<string, string> = {}) {
    this.undoLater(what, () => this.#removal(path, this.#target.token, headers))
  }

  sleep = (milliseconds: number) => sleep(milliseconds, undefined, { signal: this.#signal })

  /** Undoes something else at the end. */
  undoLater(what: string, remove: () => Promise<unknown>) {
    this.#made.push({ what, remove })
  }

  /** The user of `--token` at the pages of the server, by `--session` or by signing in with `--password`. */
  visitor = () =>
    this.once('visitor', async () => {
      const { web, login, password, session } = this.#target
      // Its session is used to clean up, also after an interruption.
      const visitor = new Visitor(new Client(this.wiring(new AbortController().signal), {}), web)
      if (session !== undefined) visitor.resume(session)
      else if (password === undefined) throw new Skip('It needs a signed-in user at the pages: give --password or --session.')
      else await visitor.signIn(login, password)
      this.undoLater(`the session of ${login} at ${web}`, () => visitor.signOut())
      return visitor
    })

  /** A public repository that checks read and star, but do not change otherwise. It has a push, and a star if the server has stars. */
  shared = () =>
    this.once('repository', async () => {
      const repo = await this.#pushed()
      await this.me.put(`/user/starred/${repo.full_name}`)
      return repo
    })

  /** The same for checks that are about its star. */
  starred = () =>
    this.once('starred repository', async () => {
      const repo = await this.shared()
      await preparing(this.me.put(`/user/starred/${repo.full_name}`).then((answer) => answer.is(204)))
      return repo
    })

  async #pushed(): Promise<Repo> {
    const repo = await this.repo()
    const content = Buffer.from('A file\n').toString('base64')
    ;(await this.me.put(`${repo.path}/contents/file.txt`, { message: 'Add a file', content })).prepares()
    return repo
  }

  privateRepo = () => this.once('private repository', () => this.repo({ private: true }))

  /** A notification thread of the caller: the other user mentions them in a new issue. */
  async thread(given?: Repo): Promise<Row> {
    // Where the first one never comes, further checks do not wait for theirs.
    await preparing(this.once('first thread', async () => this.#newThread(await this.inboxRepo())))
    return this.#newThread(given ?? (await this.inboxRepo()))
  }

  async #newThread(repo: Repo): Promise<Row> {
    const { other } = this
    const title = this.name('issue')
    const created = await other.post(`${repo.path}/issues`, { title, body: `@${this.#target.login}: a conformance run` })
    created.prepares()
    const has = (row: Row) => at(row, 'subject.title') === title
    const path = `${repo.path}/notifications?all=true&per_page=100`
    const answer = await this.me.until(path, `a thread "${title}"`, (list) => list.is(200).list().some(has))
    return answer.list().find(has) ?? {}
  }

  inboxRepo = () => this.once('repository of threads', () => this.repo())
  hookRepo = () => this.once('repository of hooks', () => this.#pushed())

  /** An address for a hook: one of the receiver if the server reaches it. */
  async hookUrl(): Promise<string> {
    const reached = await this.receiver().catch((error) => {
      if (error instanceof Skip) return undefined
      throw error
    })
    return reached ? reached.inbox(this.run, this.#patience).url : `https://example.com/${this.name('hook')}`
  }

  /** A new hook; `fields` replace those of the body. */
  async hook(fields: Row = {}): Promise<{ path: string; row: Row; answer: Answer }> {
    const repo = await this.hookRepo()
    const config = { url: await this.hookUrl(), content_type: 'json', ...((fields.config as Row) ?? {}) }
    const answer = await this.me.post(`${repo.path}/hooks`, { name: 'web', events: ['push'], ...fields, config })
    const row = answer.is(201).row()
    return { path: `${repo.path}/hooks/${row.id}`, row, answer }
  }

  /** A new hook, and what it delivers. */
  async receivingHook(fields: Row = {}): Promise<{ path: string; row: Row; inbox: Inbox }> {
    const inbox = (await this.receiver()).inbox(this.run, this.#patience)
    const hook = await this.hook({ ...fields, config: { ...((fields.config as Row) ?? {}), url: inbox.url } })
    return { ...hook, inbox }
  }

  /** The receiver, if the server reaches it. */
  receiver = () =>
    this.once('receiver', async () => {
      const receiver = this.#receiver
      if (typeof receiver === 'string') throw new Skip(receiver)
      const repo = await this.hookRepo()
      const inbox = receiver.inbox(this.run, this.#patience)
      const answer = await this.me.post(`${repo.path}/hooks`, { name: 'web', config: { url: inbox.url, content_type: 'json' } })
      if (answer.status === 422)
        throw new Skip(`The server refuses ${receiver.base} as the address of a webhook: ${answer.text.slice(0, 200)}`)
      ;(await this.me.post(`${repo.path}/hooks/${answer.is(201).row().id}/pings`)).is(204)
      await inbox
        .wait('a ping', () => true)
        .catch((error) => {
          throw error instanceof Mismatch
            ? new Skip(`The server did not reach the receiver at ${receiver.base} within ${this.#target.timeout / 1000} s.`)
            : error
        })
      return receiver
    })

  /** Deletes what was made, newest first, and returns what could not be deleted. */
  async clean(): Promise<string[]> {
    const left: string[] = []
    this.#liveness.reset()
    for (const { what, remove } of this.#made.splice(0).reverse())
      await remove().catch((error: Error) => left.push(`${what} (${error.message})`))
    return left
  }
}
