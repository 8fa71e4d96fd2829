import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, Cluster, Node } from './cluster.ts'
import type { Recorder } from './recorder.ts'

const secret = 'admin/secret'
const paths = ['', '/events', '/issues', '/commits'].map((rest) => `/repos/${secret}${rest}`)
/** A node may serve a stored response for 0.8 s when it is not told of commits, see docs/architecture.md. */
export const grace = 1000
/** How long someone goes on asking after access was taken away. */
const watched = 2500

/** Gives someone access to a private repository, takes it away, and looks whether any node still shows something. */
export class AccessLoad {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #guest: Account
  readonly #etags = new Map<string, string | null>()

  static async open(cluster: Cluster, recorder: Recorder) {
    await cluster.demand(cluster.admin, 'POST', '/user/repos', { name: 'secret', private: true, auto_init: true })
    await cluster.demand(cluster.admin, 'POST', `/repos/${secret}/issues`, { title: 'A secret' })
    return new AccessLoad(cluster, recorder, await cluster.join('eve', ['repo', 'repo:invite']))
  }

  constructor(cluster: Cluster, recorder: Recorder, guest: Account) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#guest = guest
  }

  async act(node: Node, isOver: () => boolean) {
    if (!(await this.#grant(node))) return
    // Fills the caches of all nodes.
    await this.#look(undefined)
    const path = `/repos/${secret}/collaborators/${this.#guest.login}`
    const { status } = await this.#cluster.ask(node, this.#cluster.admin, 'DELETE', path)
    if (status !== 204) return this.#recorder.failed('revocation', status)
    const revoked = performance.now()
    this.#recorder.acknowledge('revocation', `${this.#guest.login} ${secret}`, node.place)
    while (performance.now() < revoked + watched && !isOver()) {
      await this.#look(revoked + grace)
      await sleep(50)
    }
  }

  async #grant(node: Node) {
    const { admin } = this.#cluster
    const path = `/repos/${secret}/collaborators/${this.#guest.login}`
    const { status, json } = await this.#cluster.ask(node, admin, 'PUT', path, { permission: 'push' })
    if (status === 204) return true
    if (status !== 201) return this.#recorder.failed('invitation', status)
    const accepting = `/user/repository_invitations/${json.id}`
    const accepted = await this.#cluster.ask(node, this.#guest, 'PATCH', accepting)
    if (accepted.status === 204) return true
    this.#recorder.failed('acceptance', accepted.status)
    return false
  }

  /** Asks every node for everything. From `closed` on, nothing may be shown. */
  async #look(closed: number | undefined) {
    await Promise.all(
      this.#cluster.nodes.flatMap((node) =>
        paths.map(async (path) => {
          const key = `${node.place} ${path}`
          const { status, etag, began } = await this.#cluster.ask(node, this.#guest, 'GET', path, undefined, this.#etags.get(key))
          this.#recorder.polls++
          if (status === 200) this.#etags.set(key, etag)
          const isShown = status === 200 || status === 304
          if (isShown && closed !== undefined && began > closed)
            this.#recorder.exposed.push(`node ${node.place} ${path} ${status}, ${Math.round(began - closed + grace)} ms later`)
          if (status === undefined) this.#recorder.unanswered++
          else if (status >= 500 && status !== 503) this.#recorder.unexpected.push(`GET ${path}: ${status}`)
        }),
      ),
    )
  }
}
