import { sha256 } from '#test/lfs.ts'
import type { Cluster, Node } from './cluster.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'

/** Up to some pieces of a stream. */
const longest = 200_000

/** Uploads objects of Git LFS. */
export class LargeFileLoad {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #random: Random
  readonly #path: string
  #made = 0

  constructor(cluster: Cluster, recorder: Recorder, random: Random, repository: string) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#random = random
    this.#path = `/${repository}.git/info/lfs/objects`
  }

  async act(node: Node) {
    const number = ++this.#made
    const contents = `file ${number} `.repeat((number * 997) % (longest / 10))
    const oid = sha256(contents)
    const { status } = await this.#cluster.send(node, this.#cluster.admin, 'PUT', `${this.#path}/${oid}`, contents)
    if (status === 200) this.#recorder.acknowledge('file', oid, node.place)
    // The server says that its disk is full.
    else this.#recorder.failed('file', status === 507 ? 503 : status)
  }

  /** Every object has a row (and `doctor` finds the files of rows); those of this round are downloaded. */
  async check(): Promise<string[]> {
    const rows = await this.#cluster.postgres.query('select oid from lfs_objects')
    const known = new Set(rows.map(({ oid }) => oid))
    const lost: string[] = []
    for (const { identity: oid, round } of this.#recorder.of('file')) {
      if (!known.has(oid)) lost.push(`file ${oid}`)
      else if (round === this.#recorder.round && !(await this.#downloads(oid))) lost.push(`contents of file ${oid}`)
    }
    return lost
  }

  async #downloads(oid: string) {
    const node = this.#random.pick(this.#cluster.nodes)
    const { status, bytes } = await this.#cluster.send(node, this.#cluster.admin, 'GET', `${this.#path}/${oid}`)
    return status === 200 && sha256(bytes) === oid
  }
}
