import { setTimeout as sleep } from 'node:timers/promises'
import { Desk, type Worktree } from '#test/git.ts'
import { openReceiver } from '#test/webhooks.ts'
import { AccessLoad } from './access.ts'
import type { Account, Cluster, Node } from './cluster.ts'
import { HookLoad } from './hooks.ts'
import { LargeFileLoad } from './large-files.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'
import { RemarkLoad } from './remarks.ts'
import { RenameLoad } from './renames.ts'
import { RepositoryLoad } from './repositories.ts'
import { Sources } from './sources.ts'

export const repository = 'admin/engine'
/** Comments are on an issue that nobody gets notified of again and again, so that a thread that was marked stays read. */
export const discussion = 'discussion'

/** A branch that one client pushes to, over any node. */
export interface Lane {
  branch: string
  clone: Worktree
}

/** Clients that act on all nodes at once. They go on when a round is over, from where they were. */
export class Load implements AsyncDisposable {
  readonly cluster: Cluster
  readonly recorder: Recorder
  readonly random: Random
  /** How often each payload came, by its guid. */
  readonly received = new Map<string, number>()
  /** Comments, titles and commits that the receiver got. */
  readonly delivered = new Set<string>()
  /** Whether each user's star is set, as far as they know. */
  readonly stars = new Map<string, boolean | undefined>()
  readonly lanes: Lane[] = []
  /** The events of the repository as a client saw that always asks for those after the last one. */
  readonly timeline: string[] = []
  reader!: Account
  #stargazers: Account[] = []
  #access!: AccessLoad
  sources!: Sources
  repositories!: RepositoryLoad
  renames!: RenameLoad
  files!: LargeFileLoad
  remarks!: RemarkLoad
  hooks!: HookLoad
  #made = 0
  #running: Promise<unknown> = Promise.resolve()
  #over = false
  readonly #undo = new AsyncDisposableStack()

  static async open(cluster: Cluster, recorder: Recorder, random: Random) {
    const load = new Load(cluster, recorder, random)
    try {
      await load.#prepare()
    } catch (error) {
      await load[Symbol.asyncDispose]()
      throw error
    }
    return load
  }

  constructor(cluster: Cluster, recorder: Recorder, random: Random) {
    this.cluster = cluster
    this.recorder = recorder
    this.random = random
  }

  async #prepare() {
    const { cluster } = this
    const { admin } = cluster
    const receiver = this.#undo.use(
      await openReceiver((response, { headers, json }) => {
        const guid = String(headers['x-github-delivery'])
        this.received.set(guid, (this.received.get(guid) ?? 0) + 1)
        for (const made of [json?.comment?.body, json?.after, json?.issue?.title]) if (made) this.delivered.add(made)
        if (json?.action === 'deleted' && json.comment) this.delivered.add(`deleted ${json.comment.body}`)
        receiver.received.length = 0
        response.end('ok')
      }),
    )
    await cluster.demand(admin, 'POST', '/user/repos', { name: 'engine', auto_init: true })
    await cluster.demand(admin, 'POST', `/repos/${repository}/issues`, { title: discussion })
    this.reader = await cluster.join('ben', ['repo', 'notifications'])
    await cluster.demand(this.reader, 'PUT', `/repos/${repository}/subscription`, { subscribed: true })
    this.#stargazers = await Promise.all(['cyd', 'dan', 'eli'].map((login) => cluster.join(login, ['repo', 'user'])))
    this.#access = await AccessLoad.open(cluster, this.recorder)
    const config = { url: receiver.url, content_type: 'json' }
    const events = ['push', 'issues', 'issue_comment', 'star']
    await cluster.demand(admin, 'POST', `/repos/${repository}/hooks`, { config, events })
    const [first] = await cluster.demand(admin, 'GET', `/repos/${repository}/events`)
    this.timeline.push(first.id)
    const desk = this.#undo.use(await Desk.open(cluster.nodes[0] as Node))
    for (const branch of ['lane-1', 'lane-2']) {
      const clone = await desk.clone(admin, repository)
      await clone.push(`HEAD:refs/heads/${branch}`)
      this.lanes.push({ branch, clone })
    }
    this.sources = this.#undo.use(await Sources.open(cluster, this.recorder))
    const { recorder, random } = this
    this.repositories = new RepositoryLoad(cluster, recorder, random, desk)
    this.renames = await RenameLoad.open(cluster, recorder, random, desk)
    this.files = new LargeFileLoad(cluster, recorder, random, repository)
    this.hooks = this.#undo.use(await HookLoad.open(cluster, recorder, repository))
    this.remarks = new RemarkLoad(cluster, recorder, random, repository)
  }

  /** Begins a round. */
  start() {
    this.#over = false
    const often = (pause: number, act: (node: Node) => Promise<void>) => this.#repeat(pause, act)
    this.#running = Promise.all([
      often(30, (node) => this.#comment(node)),
      often(30, (node) => this.#comment(node)),
      often(60, (node) => this.#openIssue(node)),
      ...this.lanes.map((lane) => often(50, (node) => this.#push(node, lane))),
      ...this.#stargazers.map((account) => often(100, (node) => this.#toggleStar(node, account))),
      often(100, (node) => this.#mark(node)),
      often(50, (node) => this.follow(node)),
      often(50, (node) => this.#access.act(node, () => this.#over)),
      often(50, (node) => this.repositories.act(node)),
      often(200, (node) => this.renames.rename(node)),
      often(100, (node) => this.renames.push(node)),
      often(100, (node) => this.files.act(node)),
      often(50, (node) => this.remarks.act(node)),
      often(300, (node) => this.hooks.act(node)),
      often(150, (node) => this.hooks.label(node)),
      this.sources.import(this.random.pick(this.cluster.nodes)),
      this.sources.convert(),
    ])
  }

  /** Ends the round when every client has its response, or has given up on it. */
  async stop() {
    this.#over = true
    await this.#running
  }

  async #repeat(pause: number, act: (node: Node) => Promise<void>) {
    while (!this.#over) {
      await act(this.random.pick(this.cluster.nodes))
      await sleep(pause)
    }
  }

  async #comment(node: Node) {
    const body = `comment ${++this.#made}`
    const path = `/repos/${repository}/issues/1/comments`
    const { status } = await this.cluster.ask(node, this.cluster.admin, 'POST', path, { body })
    if (status === 201) this.recorder.acknowledge('comment', body, node.place)
    else this.recorder.failed('comment', status)
  }

  async #openIssue(node: Node) {
    const title = `issue ${++this.#made}`
    const { status } = await this.cluster.ask(node, this.cluster.admin, 'POST', `/repos/${repository}/issues`, { title })
    if (status === 201) this.recorder.acknowledge('issue', title, node.place)
    else this.recorder.failed('issue', status)
  }

  async #push(node: Node, { branch, clone }: Lane) {
    const commit = await clone.commit(`commit ${++this.#made}`)
    const { status } = await this.cluster.push(node, this.cluster.admin, clone, repository, branch)
    if (status === 0) this.recorder.acknowledge('push', `${branch} ${commit}`, node.place)
    else this.recorder.failed('push', 503)
  }

  async #toggleStar(node: Node, account: Account) {
    const { login } = account
    const starred = !this.stars.get(login)
    const method = starred ? 'PUT' : 'DELETE'
    this.stars.set(login, undefined)
    const { status } = await this.cluster.ask(node, account, method, `/user/starred/${repository}`)
    if (status !== 204) return this.recorder.failed('star', status)
    this.stars.set(login, starred)
    this.recorder.acknowledge('star', `${login} ${starred}`, node.place)
  }

  async #mark(node: Node) {
    const { status, json } = await this.cluster.ask(node, this.reader, 'GET', '/notifications?per_page=50')
    if (status !== 200) return this.recorder.failed('inbox', status)
    const thread = json.find(({ subject }: { subject: { title: string } }) => subject.title !== discussion)
    if (!thread) return
    const marked = await this.cluster.ask(node, this.reader, 'PATCH', `/notifications/threads/${thread.id}`)
    if (marked.status === 205) this.recorder.acknowledge('mark', thread.id, node.place)
    else this.recorder.failed('mark', marked.status)
  }

  /** Reads the events after the last one that was seen. */
  async follow(node: Node): Promise<void> {
    const path = `/repos/${repository}/events?after=${this.timeline.at(-1)}`
    const { status, json } = await this.cluster.ask(node, this.cluster.admin, 'GET', path)
    if (status !== 200) return this.recorder.failed('poll', status)
    this.recorder.polls++
    for (const { id } of json) this.timeline.push(id)
  }

  async [Symbol.asyncDispose]() {
    await this.stop()
    await this.#undo.disposeAsync()
  }
}
