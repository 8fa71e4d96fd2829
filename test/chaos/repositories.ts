import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Desk, Worktree } from '#test/git.ts'
import { findLeftovers } from '#test/leftovers.ts'
import { grace } from './access.ts'
import { findLostCommits } from './branches.ts'
import type { Cluster, Node } from './cluster.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'

/** How many repositories are kept. One of more is deleted, new or old. */
const most = 2
const branch = 'topic'

interface Repository {
  id: number
  name: string
  clone: Worktree
  /** The last acknowledged commit of its branch. */
  commit?: string
  /** Whether its deletion was acknowledged. */
  deleted: 'no' | 'perhaps' | 'yes'
  /** The round of its last change. */
  round: number
}

/** Creates repositories, pushes to them, opens issues in them, and deletes them while someone pushes. */
export class RepositoryLoad {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #random: Random
  readonly #desk: Desk
  readonly #all: Repository[] = []
  #kept: Repository[] = []
  #made = 0

  constructor(cluster: Cluster, recorder: Recorder, random: Random, desk: Desk) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#random = random
    this.#desk = desk
  }

  async act(node: Node) {
    const { admin } = this.#cluster
    // No name is the beginning of another one.
    const name = `short-${String(++this.#made).padStart(5, '0')}`
    const { status, json } = await this.#cluster.ask(node, admin, 'POST', '/user/repos', { name, auto_init: true })
    if (status !== 201) return this.#recorder.failed('creation', status)
    this.#recorder.acknowledge('creation', name, node.place)
    const clone = await this.#desk.begin(admin, `admin/${name}`)
    const repo: Repository = { id: json.id, name, clone, deleted: 'no', round: this.#recorder.round }
    this.#all.push(repo)
    this.#kept.push(repo)
    const commit = await this.#push(repo)
    if (commit) {
      repo.commit = commit
      this.#recorder.acknowledge('first push', commit, node.place)
    }
    const other = this.#random.pick(this.#cluster.nodes)
    const opened = await this.#cluster.ask(other, admin, 'POST', `/repos/admin/${name}/issues`, { title: `issue of ${name}` })
    if (opened.status !== 201) this.#recorder.failed('issue of a new repository', opened.status)
    if (this.#kept.length > most) await this.#delete(node, this.#random.pick(this.#kept))
  }

  async #push({ name, clone }: Repository) {
    const node = this.#random.pick(this.#cluster.nodes)
    const commit = await clone.commit(`commit of ${name}`)
    const { status, stderr } = await this.#cluster.push(node, this.#cluster.admin, clone, `admin/${name}`, branch)
    if (status === 0) return commit
    if (/not found/i.test(stderr)) this.#recorder.unexpected.push(`push to ${name}, which was created: ${stderr}`)
    else this.#recorder.failed('first push', 503)
    return undefined
  }

  async #delete(node: Node, repo: Repository) {
    const { admin } = this.#cluster
    this.#kept = this.#kept.filter((one) => one !== repo)
    repo.round = this.#recorder.round
    await repo.clone.commit('a commit that comes too late')
    // It may succeed or not.
    const pushing = this.#cluster.push(this.#random.pick(this.#cluster.nodes), admin, repo.clone, `admin/${repo.name}`, branch)
    const { status } = await this.#cluster.ask(node, admin, 'DELETE', `/repos/admin/${repo.name}`)
    repo.deleted = status === 204 ? 'yes' : 'perhaps'
    if (status === 204) {
      this.#recorder.acknowledge('deletion', repo.name, node.place)
      await sleep(grace)
      for (const one of this.#cluster.nodes) this.#recorder.exposed.push(...(await this.#findShown(one, repo)))
    } else this.#recorder.failed('deletion', status)
    await pushing
  }

  /** What a node shows of a repository. */
  async #findShown(node: Node, { name }: Repository): Promise<string[]> {
    const own = [
      ...['', '/events', '/commits', '/issues', '/branches'].map((rest) => `/api/v3/repos/admin/${name}${rest}`),
      ...['', '.atom', '/commits.atom', '.git/info/refs?service=git-upload-pack'].map((rest) => `/admin/${name}${rest}`),
    ]
    const lists = [
      ...['/users/admin/events?', '/user/repos?', '/user/issues?filter=created&'].map((path) => `/api/v3${path}per_page=100`),
      '/admin.atom',
    ]
    const looks = [...own, ...lists].map(async (path) => {
      const { status, bytes } = await this.#cluster.send(node, this.#cluster.admin, 'GET', path)
      this.#recorder.polls++
      if (status === undefined) this.#recorder.unanswered++
      else if (status >= 500 && status !== 503) this.#recorder.unexpected.push(`GET ${path}: ${status}`)
      const isShown = status === 200 && (own.includes(path) || bytes.includes(name))
      return isShown ? [`deleted ${name}: node ${node.place} ${path}`] : []
    })
    return (await Promise.all(looks)).flat()
  }

  /** Repositories, with their branches, that were created and not deleted. */
  async findLost(): Promise<string[]> {
    const { nodes, admin } = this.#cluster
    const there = await this.#ids()
    const made = await this.#cluster.postgres.query(`
      select repo_id, count(*) from events where type = 'CreateEvent' and payload->>'ref_type' = 'repository' group by 1`)
    const events = new Map(made.map(({ repo_id, count }) => [Number(repo_id), Number(count)]))
    const lost: string[] = []
    for (const repo of this.#kept) {
      const { id, name, commit } = repo
      if (!there.has(id)) lost.push(`repository ${name}`)
      if (events.get(id) !== 1) lost.push(`creation of ${name}: ${events.get(id)} events`)
      if (commit) lost.push(...(await findLostCommits(this.#cluster, { repo_id: id, branch, clone: repo.clone }, commit)))
      const wanted = commit ? ['main', branch] : ['main']
      for (const node of repo.round === this.#recorder.round ? nodes : []) {
        const { status, json } = await this.#cluster.ask(node, admin, 'GET', `/repos/admin/${name}/branches`)
        const shown: string[] = status === 200 ? json.map((one: { name: string }) => one.name) : []
        if (!wanted.every((one) => shown.includes(one)))
          lost.push(`branches of ${name}: node ${node.place} shows ${status} ${shown}`)
      }
    }
    return lost
  }

  /** What is left of deleted repositories, and counts that are wrong. A deletion that was not acknowledged happened as a whole, or not at all. */
  async findLeft(): Promise<string[]> {
    const { nodes, admin, postgres } = this.#cluster
    const there = await this.#ids()
    const kept = this.#all.filter(({ id, deleted }) => deleted === 'yes' && there.has(id))
    const gone = this.#all.filter(({ id }) => !there.has(id))
    const folders = gone.flatMap(({ id }) => ['', '.new'].map((suffix) => `${this.#cluster.folderOf(id)}${suffix}`))
    const left = await findLeftovers(
      (text) => postgres.query(text),
      gone.map(({ id }) => id),
    )
    const shown: string[] = []
    const [row] = await postgres.query(`
      select count(*) from repositories where not private and owner_id = (select id from accounts where login = 'admin')`)
    for (const node of nodes) {
      const { json } = await this.#cluster.ask(node, admin, 'GET', '/users/admin')
      if (json?.public_repos !== Number(row?.count))
        shown.push(`node ${node.place} counts ${json?.public_repos} repositories instead of ${row?.count}`)
      for (const repo of gone) if (repo.round === this.#recorder.round) shown.push(...(await this.#findShown(node, repo)))
    }
    return [
      ...kept.map(({ name }) => `deleted repository ${name} is there`),
      ...folders.filter((path) => existsSync(path)).map((path) => `folder of a deleted repository: ${path}`),
      ...left.map((one) => `row of a deleted repository: ${one}`),
      ...shown,
    ]
  }

  async #ids() {
    return new Set((await this.#cluster.postgres.query('select id from repositories')).map(({ id }) => Number(id)))
  }
}
