import type { Desk, Worktree } from '#test/git.ts'
import { findLostCommits } from './branches.ts'
import type { Cluster, Node } from './cluster.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'

/** Names are used again, so that redirects end and begin. */
const names = ['moving-1', 'moving-2', 'moving-3', 'moving-4']
const branch = 'main'

/** Renames a repository again and again, and pushes to it under all names that it had. */
export class RenameLoad {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #random: Random
  readonly #clone: Worktree
  readonly #id: number
  /** As last acknowledged. */
  #name = names[0] as string
  /** What the name may be as well. A rename that was not acknowledged may still come while the round lasts. */
  readonly #doubts = new Set<string>()
  /** The names that it certainly had. */
  readonly #used = new Set([this.#name])
  #made = 0

  static async open(cluster: Cluster, recorder: Recorder, random: Random, desk: Desk) {
    const { id } = await cluster.demand(cluster.admin, 'POST', '/user/repos', { name: names[0], auto_init: true })
    return new RenameLoad(cluster, recorder, random, await desk.clone(cluster.admin, `admin/${names[0]}`), id)
  }

  constructor(cluster: Cluster, recorder: Recorder, random: Random, clone: Worktree, id: number) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#random = random
    this.#clone = clone
    this.#id = id
  }

  async rename(node: Node) {
    const { admin } = this.#cluster
    const before = this.#name
    const name = this.#random.pick(names.filter((one) => one !== before))
    const { status, json } = await this.#cluster.ask(node, admin, 'PATCH', `/repos/admin/${before}`, { name })
    if (status !== 200) {
      this.#doubts.add(name)
      return this.#recorder.failed('rename', status)
    }
    this.#name = name
    this.#used.add(name)
    this.#recorder.acknowledge('rename', name, node.place)
    if (json.name !== name) this.#recorder.unexpected.push(`rename to ${name}: the response says ${json.name}`)
  }

  async push(node: Node) {
    const commit = await this.#clone.commit(`moved ${++this.#made}`)
    const name = this.#random.pick([...this.#used])
    const { status, stderr } = await this.#cluster.push(node, this.#cluster.admin, this.#clone, `admin/${name}`, branch)
    if (status === 0) this.#recorder.acknowledge('moved push', commit, node.place)
    else if (/not found/i.test(stderr)) this.#recorder.unexpected.push(`push to ${name}: ${stderr}`)
    else this.#recorder.failed('moved push', 503)
  }

  /** Every name leads to the repository, on every node, and its events have its present name. */
  async check(): Promise<string[]> {
    const [row] = await this.#cluster.postgres.query(`select name from repositories where id = ${this.#id}`)
    const name = String(row?.name)
    const lost: string[] = []
    if (name !== this.#name && !this.#doubts.has(name)) lost.push(`rename to ${this.#name}: the name is ${name}`)
    this.#name = name
    this.#used.add(name)
    this.#doubts.clear()
    for (const node of this.#cluster.nodes) lost.push(...(await this.#findDeadNames(node)))
    const events = await this.#cluster.postgres.query(
      `select payload->>'head' as head from events where repo_id = ${this.#id} and type = 'PushEvent'`,
    )
    const heads = new Set(events.map(({ head }) => head))
    const pushes = this.#recorder.of('moved push').map(({ identity }) => identity)
    lost.push(...pushes.filter((commit) => !heads.has(commit)).map((commit) => `event of a push ${name} ${commit}`))
    const last = pushes.at(-1)
    const place = { repo_id: this.#id, branch, clone: this.#clone }
    return last ? [...lost, ...(await findLostCommits(this.#cluster, place, last))] : lost
  }

  async #findDeadNames(node: Node): Promise<string[]> {
    const { admin } = this.#cluster
    const lost: string[] = []
    for (const name of this.#used) {
      const { status, json } = await this.#cluster.ask(node, admin, 'GET', `/repos/admin/${name}`)
      if (json?.id !== this.#id || json.name !== this.#name)
        lost.push(`name ${name}: node ${node.place} shows ${status} ${json?.name} instead of ${this.#name}`)
    }
    const { status, json } = await this.#cluster.ask(node, admin, 'GET', `/repos/admin/${this.#name}/events`)
    const shown: string[] = status === 200 ? json.map(({ repo }: { repo: { name: string } }) => repo.name) : []
    const others = new Set(shown.filter((one) => one !== `admin/${this.#name}`))
    if (!shown.length || others.size)
      lost.push(`events of ${this.#name}: node ${node.place} shows ${status} ${[...others].join(', ')}`)
    return lost
  }
}
