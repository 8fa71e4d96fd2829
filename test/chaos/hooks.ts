import { openReceiver } from '#test/webhooks.ts'
import type { Cluster, Node } from './cluster.ts'
import type { Recorder } from './recorder.ts'

/** How many hooks are kept. The oldest of more is deleted. */
const most = 1

interface Hook {
  id: number
  /** The number of the first label that it must be sent. */
  from: number
  /** The number of the first label that it must not be sent. Unknown if its deletion was not acknowledged. */
  to?: number | 'unknown'
}

/** Creates and deletes hooks, and labels that they are sent. */
export class HookLoad implements AsyncDisposable {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #repository: string
  readonly #receiver: Awaited<ReturnType<typeof openReceiver>>
  readonly #hooks: Hook[] = []
  /** The names of acknowledged labels, by their numbers. */
  readonly #labels = new Map<number, string>()
  /** Which hook was sent which label. */
  readonly #sent: Set<string>
  #made = 0
  #attempts = 0

  static async open(cluster: Cluster, recorder: Recorder, repository: string) {
    const sent = new Set<string>()
    const receiver = await openReceiver((response, { headers, json }) => {
      sent.add(`${headers['x-github-hook-id']} ${json?.label?.name}`)
      receiver.received.length = 0
      response.end('ok')
    })
    return new HookLoad(cluster, recorder, repository, receiver, sent)
  }

  constructor(
    cluster: Cluster,
    recorder: Recorder,
    repository: string,
    receiver: Awaited<ReturnType<typeof openReceiver>>,
    sent: Set<string>,
  ) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#repository = repository
    this.#receiver = receiver
    this.#sent = sent
  }

  async act(node: Node) {
    const { admin } = this.#cluster
    const live = this.#hooks.filter(({ to }) => to === undefined)
    const path = `/repos/${this.#repository}/hooks`
    if (live[0] && live.length > most) {
      const { status } = await this.#cluster.ask(node, admin, 'DELETE', `${path}/${live[0].id}`)
      live[0].to = status === 204 ? this.#made + 1 : 'unknown'
      if (status === 204) this.#recorder.acknowledge('hook deletion', `${live[0].id}`, node.place)
      else this.#recorder.failed('hook deletion', status)
    } else {
      // A repository has one hook for a URL, and an attempt that was not acknowledged may have made it.
      const config = { url: `${this.#receiver.url}?attempt=${++this.#attempts}`, content_type: 'json' }
      const { status, json } = await this.#cluster.ask(node, admin, 'POST', path, { config, events: ['label'] })
      if (status !== 201) return this.#recorder.failed('hook', status)
      this.#hooks.push({ id: json.id, from: this.#made + 1 })
      this.#recorder.acknowledge('hook', `${json.id}`, node.place)
    }
  }

  async label(node: Node) {
    const number = ++this.#made
    const name = `label ${number}`
    const path = `/repos/${this.#repository}/labels`
    const { status } = await this.#cluster.ask(node, this.#cluster.admin, 'POST', path, { name, color: 'ffffff' })
    if (status !== 201) return this.#recorder.failed('label', status)
    this.#labels.set(number, name)
    this.#recorder.acknowledge('label', name, node.place)
  }

  /** Labels that a hook was not sent. */
  findLost(): string[] {
    return this.#compare(({ from, to }, number) => to === undefined && number >= from, false)
  }

  /** Labels that a hook was sent after its deletion. */
  findWrong(): string[] {
    return this.#compare(({ to }, number) => typeof to === 'number' && number >= to, true)
  }

  #compare(concerns: (hook: Hook, number: number) => boolean, found: boolean) {
    const labels = [...this.#labels]
    return this.#hooks.flatMap((hook) =>
      labels
        .filter(([number, name]) => concerns(hook, number) && this.#sent.has(`${hook.id} ${name}`) === found)
        .map(([, name]) => `delivery of ${name} to hook ${hook.id}${found ? ', which was deleted before' : ''}`),
    )
  }

  [Symbol.asyncDispose]() {
    return this.#receiver[Symbol.asyncDispose]()
  }
}
