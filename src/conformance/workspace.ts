import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, at, Mismatch, type Row, Skip } from './answer.ts'
import { Client } from './client.ts'
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

  #client(token: string, signal = this.#signal) {
    return new Client({ base: this.#target.base, timeout: this.#target.timeout, signal }, { authorization: `Bearer ${token}` })
  }

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
    const name = this.name()
    const path = `/repos/${login}/${name}`
    const token = client === this.me ? this.#target.token : this.#target.other?.token
    // Registered before it exists, because an interrupted request may have created it.
    this.#made.push({ what: `repository ${login}/${name}`, remove: () => this.#removal(path, token ?? '') })
    const created = await client.post(kind === 'user' ? '/user/repos' : `/orgs/${login}/repos`, {
      name,
      description: 'Made by a conformance run',
      auto_init: true,
      ...fields,
    })
    if (kind === 'organization' && [403, 404].includes(created.status))
      throw new Skip(`The user of --token cannot create repositories in ${login}.`)
    return { name, full_name: `${login}/${name}`, path, row: created.is(201).row() }
  }

  /** Runs also after an interruption, so with a signal of its own. */
  async #removal(path: string, token: string) {
    const client = this.#client(token, new AbortController().signal)
    const answer = await client.delete(path)
    // A check renamed it.
    const moved = [301, 307, 308].includes(answer.status) ? answer.headers.get('location') : null
    const { status } = moved === null ? answer : await client.delete(moved)
    if (![204, 404].includes(status)) throw new Error(`DELETE ${path} gave status ${status}`)
  }

  /** Deletes a record at the end that is not part of a repository. */
  deleteLater(what: string, path: string, headers: Record<string, string>) {
    const client = this.#client(this.#target.token, new AbortController().signal).with(headers)
    const remove = async () => {
      const answer = await client.delete(path)
      if (![204, 404].includes(answer.status)) throw new Error(`DELETE ${path} gave status ${answer.status}`)
    }
    this.#made.push({ what, remove })
  }

  sleep = (milliseconds: number) => sleep(milliseconds, undefined, { signal: this.#signal })

  /** Undoes something else at the end. */
  undoLater(what: string, remove: () => Promise<unknown>) {
    this.#made.push({ what, remove })
  }

  /** The user of `--token` at the pages of the server, by `--session` or by signing in with `--password`. */
  visitor = () =>
    this.once('visitor', async () => {
      const { base, timeout, web, login, password, session } = this.#target
      // Its session is used to clean up, also after an interruption.
      const visitor = new Visitor(new Client({ base, timeout, signal: new AbortController().signal }, {}), web)
      if (session !== undefined) visitor.resume(session)
      else if (password === undefined) throw new Skip('It needs a signed-in user at the pages: give --password or --session.')
      else await visitor.signIn(login, password)
      this.undoLater(`the session of ${login} at ${web}`, () => visitor.signOut())
      return visitor
    })

  /** A public repository that checks read and star, but do not change otherwise. It has a push and a star. */
  shared = () =>
    this.once('repository', async () => {
      const repo = await this.#pushed()
      ;(await this.me.put(`/user/starred/${repo.full_name}`)).is(204)
      return repo
    })

  async #pushed(): Promise<Repo> {
    const repo = await this.repo()
    const content = Buffer.from('A file\n').toString('base64')
    ;(await this.me.put(`${repo.path}/contents/file.txt`, { message: 'Add a file', content })).is(201)
    return repo
  }

  privateRepo = () => this.once('private repository', () => this.repo({ private: true }))

  /** A notification thread of the caller: the other user mentions them in a new issue. */
  async thread(given?: Repo): Promise<Row> {
    const { other } = this
    const repo = given ?? (await this.inboxRepo())
    const title = this.name('issue')
    const created = await other.post(`${repo.path}/issues`, { title, body: `@${this.#target.login}: a conformance run` })
    created.is(201)
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
    return reached ? reached.inbox(this.run).url : `https://example.com/${this.name('hook')}`
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
    const inbox = (await this.receiver()).inbox(this.run)
    const hook = await this.hook({ ...fields, config: { ...((fields.config as Row) ?? {}), url: inbox.url } })
    return { ...hook, inbox }
  }

  /** The receiver, if the server reaches it. */
  receiver = () =>
    this.once('receiver', async () => {
      const receiver = this.#receiver
      if (typeof receiver === 'string') throw new Skip(receiver)
      const repo = await this.hookRepo()
      const inbox = receiver.inbox(this.run)
      const answer = await this.me.post(`${repo.path}/hooks`, { name: 'web', config: { url: inbox.url, content_type: 'json' } })
      if (answer.status === 422)
        throw new Skip(`The server refuses ${receiver.base} as the address of a webhook: ${answer.text.slice(0, 200)}`)
      ;(await this.me.post(`${repo.path}/hooks/${answer.is(201).row().id}/pings`)).is(204)
      await inbox
        .wait('a ping', () => true)
        .catch((error) => {
          throw error instanceof Mismatch
            ? new Skip(`The server did not reach the receiver at ${receiver.base} within 15 s.`)
            : error
        })
      return receiver
    })

  /** Deletes what was made, newest first, and returns what could not be deleted. */
  async clean(): Promise<string[]> {
    const left: string[] = []
    for (const { what, remove } of this.#made.splice(0).reverse())
      await remove().catch((error: Error) => left.push(`${what} (${error.message})`))
    return left
  }
}
