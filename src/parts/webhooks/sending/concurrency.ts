import { inTotal, perHost } from './limits.ts'

interface HookQueue<Item> {
  hook_id: number
  host: Host<Item>
  waiting: Item[]
  active: number
  width: number
}

interface Host<Item> {
  name: string
  active: number
  /** Queues that wait until this host has fewer active items. */
  blocked: Set<HookQueue<Item>>
}

/** Runs each hook's items in the order in which they were added, within the limits per hook, per host and in total. */
export class ConcurrencyLimiter<Item> {
  readonly #queues = new Map<number, HookQueue<Item>>()
  readonly #hosts = new Map<string, Host<Item>>()
  /** Queues that wait because of the total limit. */
  readonly #blocked = new Set<HookQueue<Item>>()
  readonly #run: (item: Item) => Promise<void>
  #active = 0
  #waiting = 0

  constructor(run: (item: Item) => Promise<void>) {
    this.#run = run
  }

  get active() {
    return this.#active
  }

  get waiting() {
    return this.#waiting
  }

  /** The active and waiting items of a hook. */
  count(hook_id: number): number {
    const queue = this.#queues.get(hook_id)
    return queue ? queue.active + queue.waiting.length : 0
  }

  /** Hooks that have at least `many` items. */
  fullHooks(many: number): number[] {
    return [...this.#queues.values()].flatMap(({ hook_id, active, waiting }) => (active + waiting.length >= many ? hook_id : []))
  }

  add(hook_id: number, host: string, width: number, item: Item) {
    const queue = this.#queues.get(hook_id) ?? { hook_id, host: this.#hostOf(host), waiting: [], active: 0, width }
    this.#queues.set(hook_id, queue)
    queue.width = width
    queue.waiting.push(item)
    this.#waiting++
    this.#start(queue)
  }

  setWidth(hook_id: number, width: number) {
    const queue = this.#queues.get(hook_id)
    if (!queue) return
    queue.width = width
    this.#start(queue)
  }

  /** Removes the waiting items of one hook, or of all hooks. */
  removeWaiting(hook_id?: number): Item[] {
    const queues = [...this.#queues.values()].filter((queue) => hook_id === undefined || queue.hook_id === hook_id)
    const removed = queues.flatMap((queue) => queue.waiting.splice(0))
    this.#waiting -= removed.length
    return removed
  }

  #hostOf(name: string): Host<Item> {
    const host = this.#hosts.get(name) ?? { name, active: 0, blocked: new Set() }
    this.#hosts.set(name, host)
    return host
  }

  #start(queue: HookQueue<Item>) {
    const { host } = queue
    while (queue.waiting.length > 0 && queue.active < queue.width) {
      const full = this.#active >= inTotal ? this.#blocked : host.active >= perHost ? host.blocked : undefined
      if (full) {
        full.add(queue)
        return
      }
      const item = queue.waiting.shift() as Item
      this.#waiting--
      this.#active++
      host.active++
      queue.active++
      void this.#run(item).finally(() => this.#finish(queue))
    }
  }

  #finish(queue: HookQueue<Item>) {
    const { host } = queue
    this.#active--
    host.active--
    queue.active--
    // The queue that waits longest comes first. One that must wait again goes to the end.
    for (const blocked of [host.blocked, this.#blocked]) this.#startNext(blocked)
    this.#start(queue)
    this.#forget(queue)
  }

  /** Skips queues that have become empty. */
  #startNext(blocked: Set<HookQueue<Item>>) {
    for (const next of blocked) {
      if (this.#active >= inTotal) return
      const { active } = next
      blocked.delete(next)
      this.#start(next)
      if (next.active > active || blocked.has(next)) return
      this.#forget(next)
    }
  }

  #forget(queue: HookQueue<Item>) {
    const { host } = queue
    if (queue.active + queue.waiting.length === 0) this.#queues.delete(queue.hook_id)
    if (host.active === 0 && host.blocked.size === 0) this.#hosts.delete(host.name)
  }
}
