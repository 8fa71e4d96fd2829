import type { Belfry } from '#belfry.ts'
import { noObject } from '#git/objects.ts'
import type { Commit as WrittenCommit } from '#git/storage.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf, createOnDisk } from '#hosting/repositories/contents.ts'
import { loadRepository, type NewRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { replaceTopics } from '#hosting/topics/topics.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { fanOut } from '#parts/notifications/fan-out.ts'
import type { Clock } from '#platform/clock.ts'
import { Database, sql, type Transaction } from '#platform/database.ts'
import type { SessionSettings } from '#platform/pools.ts'

/** A clock that the story moves. It runs forward only, because logs and ids follow the order of acts. */
export class StoryClock implements Clock {
  #now: Date

  constructor(start: Date) {
    this.#now = start
  }

  now = () => this.#now

  moveTo(at: Date) {
    if (at > this.#now) this.#now = at
  }

  /** To do again what follows `at`. */
  returnTo(at: Date) {
    this.#now = at
  }

  advance(minutes: number) {
    this.#now = new Date(this.#now.getTime() + minutes * 60_000)
  }
}

/** The files of a commit: whole texts, or functions of the text before. */
export type Files = Record<string, string | ((before: string) => string)>

export interface Commit {
  /** The pusher unless named. */
  by?: string
  message: string
  files: Files
}

export const append = (text: string) => (before: string) => before + text

/** Fails when the text is not there, so that a story cannot lose an edit silently. */
export const replace = (text: string, by: string) => (before: string) => {
  if (!before.includes(text)) throw new Error(`The story edits a text that is not there: ${text}`)
  return before.replace(text, by)
}

interface Branch {
  head: string | undefined
  texts: Map<string, string>
  /** The commits since the branch began, to apply them to another branch. */
  commits: Commit[]
}

/** A person at a repository. */
export interface Acting {
  actor: Account
  repo: Repository
  viewer: Viewer
}

/** Where the story happens: its people and repositories, and a database whose clock is that of the story. */
export class Stage implements AsyncDisposable {
  readonly belfry: Belfry
  readonly clock: StoryClock
  /** When the story is told: its last day. */
  readonly end: Date
  readonly db: Database
  readonly accounts = new Map<string, Account>()
  /** Issues, pull requests and milestones by the names that the story gives them. */
  readonly numbers = new Map<string, number>()
  readonly #branches = new Map<string, Branch>()
  readonly #acting = new Map<string, Acting>()
  /** What acts share, see `together`. */
  #open: Transaction | undefined

  constructor(belfry: Belfry, clock: StoryClock, session: SessionSettings = {}) {
    this.belfry = belfry
    this.clock = clock
    this.end = belfry.db.now
    const { options } = belfry.db.pool
    // The pool hides its password from copies.
    const connection = { ...options, password: options.password, max: 4 }
    this.db = new Database(connection, clock, { session })
  }

  get storage() {
    return this.belfry.storage
  }

  account(login: string): Account {
    const account = this.accounts.get(login)
    if (!account) throw new Error(`The story has nobody named ${login}`)
    return account
  }

  numberOf(name: string): number {
    const number = this.numbers.get(name)
    if (number === undefined) throw new Error(`The story has not opened ${name} yet`)
    return number
  }

  /** Replaces `{name}` by the number of an issue that was opened before. */
  text(text: string) {
    return text.replaceAll(/\{([a-z-]+)\}/g, (_, name) => `#${this.numberOf(name)}`)
  }

  async as(login: string, full_name: string): Promise<Acting> {
    const key = `${login} ${full_name}`
    const known = this.#acting.get(key)
    if (known) return known
    const [actor, [owner = '', name = '']] = [this.account(login), full_name.split('/')]
    const viewer = { viewer_id: actor.id, sees_private: true }
    const acting = { actor, viewer, repo: await loadRepository(this.db, viewer, owner, name) }
    this.#acting.set(key, acting)
    return acting
  }

  /** Call it after a change of access or settings. */
  forgetAccess() {
    this.#acting.clear()
  }

  transaction<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    return this.#open ? work(this.#open.at(this.db.now)) : this.db.transaction(work)
  }

  /** Runs acts in one transaction. Each has its own time. They read and write the database only by `transaction`. */
  async together(acts: () => Promise<void>) {
    const begun = this.clock.now()
    await this.db
      .transaction(async (transaction) => {
        this.clock.returnTo(begun)
        this.#open = transaction
        await acts()
      })
      .finally(() => {
        this.#open = undefined
      })
  }

  async createRepository(creator: string, full_name: string, wanted: Omit<NewRepository, 'name'> & { topics?: string[] }) {
    const [owner = '', name = ''] = full_name.split('/')
    const [actor, { topics = [], ...rest }] = [this.account(creator), wanted]
    const viewer = { viewer_id: actor.id, sees_private: true }
    const repo = await createOnDisk(this.db, this.storage, viewer, this.account(owner), actor, { name, ...rest })
    if (topics.length) await this.transaction((db) => replaceTopics(db, viewer, actor, repo, topics))
    this.forgetAccess()
  }

  /** The branch as the story knows it; a new one begins where `from` is. */
  branch(full_name: string, name: string, from = 'main'): Branch {
    const [key, origin] = [`${full_name} ${name}`, this.#branches.get(`${full_name} ${from}`)]
    const known = this.#branches.get(key)
    if (known) return known
    const made = { head: name === from ? undefined : origin?.head, texts: new Map(origin?.texts), commits: [] }
    this.#branches.set(key, made)
    return made
  }

  /** A fork begins with the branch of its parent. */
  copyBranch(from: string, to: string) {
    const { head, texts } = this.branch(from, 'main')
    this.#branches.set(`${to} main`, { head, texts: new Map(texts), commits: [] })
  }

  /** Writes the texts of a commit into a branch, and returns the changed files. */
  edit({ texts }: Pick<Branch, 'texts'>, files: Files): Record<string, string> {
    const changed = Object.entries(files).map(([path, file]): [string, string] => [
      path,
      typeof file === 'string' ? file : file(texts.get(path) ?? ''),
    ])
    for (const [path, text] of changed) texts.set(path, text)
    return Object.fromEntries(changed)
  }

  written(branch: Branch, pusher: string, { by = pusher, message, files }: Commit, at: Date): WrittenCommit {
    return { author: authorOf(this.account(by)), at, message: `${message}\n`, files: this.edit(branch, files) }
  }

  /** Pushes commits to a branch, in one push. */
  async push(pusher: string, full_name: string, commits: Commit[], name = 'main') {
    const { actor, repo } = await this.as(pusher, full_name)
    const branch = this.branch(full_name, name)
    const fresh = name !== 'main' && branch.commits.length === 0
    // A few minutes apart, and the last one just before the push.
    const at = (index: number) => new Date(this.clock.now().getTime() - (commits.length - index) * 7 * 60_000)
    const drafts = commits.map((commit, index) => this.written(branch, pusher, commit, at(index)))
    const after = await this.storage.draft(repo.id, branch.head, drafts)
    await this.move(actor, repo, name, fresh ? undefined : branch.head, after)
    branch.head = after
    branch.commits.push(...commits)
  }

  async move(pusher: Account, repo: Repository, branch: string, before: string | undefined, after: string) {
    const command = { ref: `refs/heads/${branch}`, before: before ?? noObject, after }
    await pushRefs(this.db, this.storage, repo, pusher, [command])
  }

  /** Notifies users of what happened, at the time of the story. Otherwise the job would do it later, at the present time. */
  async notify() {
    for (const { subject_id } of await this.findPending()) await fanOut(this.db, subject_id)
  }

  /** Subjects of which not all users are notified yet. Those must be before the next act, which may add participants. */
  findPending() {
    const db = this.#open ?? this.db
    return db.rows<{ subject_id: number }>(sql`
      select distinct subject_id from notification_events where notified_at is null`)
  }

  async [Symbol.asyncDispose]() {
    await this.db[Symbol.asyncDispose]()
    // This process has cached what it read while the story was written.
    this.belfry.db.notifyTransactionEnd('committed elsewhere')
  }
}
