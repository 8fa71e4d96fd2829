import type { Cluster, Node } from './cluster.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'

/** How many comments are edited at a time. */
const most = 4

interface Remark {
  id: number
  /** As last acknowledged; undefined when it is deleted. */
  body: string | undefined
  /** What the comment may be as well: the change was not acknowledged. */
  doubt?: { body: string | undefined }
  /** The round of its last change. */
  round: number
}

/** Makes comments, edits them, and deletes them. A comment is left alone after a change that was not acknowledged, because that may still come. */
export class RemarkLoad {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #random: Random
  readonly #repository: string
  readonly #all: Remark[] = []
  #open: Remark[] = []
  #made = 0

  constructor(cluster: Cluster, recorder: Recorder, random: Random, repository: string) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#random = random
    this.#repository = repository
  }

  async act(node: Node) {
    if (this.#open.length < most) return this.#create(node)
    const remark = this.#random.pick(this.#open)
    const body = this.#random.pick([0, 1, 2]) ? `remark ${++this.#made}` : undefined
    const [method, success] = body === undefined ? (['DELETE', 204] as const) : (['PATCH', 200] as const)
    const path = this.#pathOf(remark)
    const { status } = await this.#cluster.ask(node, this.#cluster.admin, method, path, body === undefined ? undefined : { body })
    remark.round = this.#recorder.round
    const [kind, identity] = body === undefined ? (['removal', remark.body ?? ''] as const) : (['edit', body] as const)
    if (status === success) {
      remark.body = body
      this.#recorder.acknowledge(kind, identity, node.place)
    } else {
      remark.doubt = { body }
      this.#recorder.failed(kind, status)
    }
    if (remark.doubt || remark.body === undefined) this.#open = this.#open.filter((one) => one !== remark)
  }

  async #create(node: Node) {
    const body = `remark ${++this.#made}`
    const path = `/repos/${this.#repository}/issues/1/comments`
    const { status, json } = await this.#cluster.ask(node, this.#cluster.admin, 'POST', path, { body })
    if (status !== 201) return this.#recorder.failed('remark', status)
    this.#recorder.acknowledge('remark', body, node.place)
    const remark = { id: json.id, body, round: this.#recorder.round }
    this.#all.push(remark)
    this.#open.push(remark)
  }

  #pathOf({ id }: Remark) {
    return `/repos/${this.#repository}/issues/comments/${id}`
  }

  /** Comments that are not as last acknowledged: all in the database, those of this round as every node shows them. */
  async check(delivered: ReadonlySet<string>): Promise<string[]> {
    const rows = await this.#cluster.postgres.query('select id, body from comments')
    const bodies = new Map(rows.map(({ id, body }) => [Number(id), String(body)]))
    const lost: string[] = []
    for (const remark of this.#all) {
      const { id, body, doubt, round } = remark
      const isRight = (shown: string | undefined) => shown === body || (doubt && shown === doubt.body)
      if (!isRight(bodies.get(id))) lost.push(`comment ${id}: "${bodies.get(id)}" instead of "${body}"`)
      for (const node of round === this.#recorder.round ? this.#cluster.nodes : []) {
        const { status, json } = await this.#cluster.ask(node, this.#cluster.admin, 'GET', this.#pathOf(remark))
        if (status !== (bodies.has(id) ? 200 : 404) || json.body !== bodies.get(id))
          lost.push(`comment ${id}: node ${node.place} shows ${status} "${json?.body}" instead of "${bodies.get(id)}"`)
      }
    }
    const payloads = [
      ...[...this.#recorder.of('remark'), ...this.#recorder.of('edit')].map(({ identity }) => identity),
      ...this.#recorder.of('removal').map(({ identity }) => `deleted ${identity}`),
    ]
    return [...lost, ...payloads.filter((one) => !delivered.has(one)).map((one) => `delivery of ${one}`)]
  }
}
