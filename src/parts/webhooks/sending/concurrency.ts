/** How much goes on at the same time: for one hook, for one host, in all. A receiver that hangs takes its own places, and no others'. */
export const perHook = 10
export const perHost = 50
export const inTotal = 1000

interface Lane<Item> {
  hook_id: number
  host: Host<Item>
  waiting: Item[]
  active: number
  width: number
}

interface Host<Item> {
  name: string
  active: number
  /** ConcurrencyLimiter that wait for a place at this host. */
  blocked: Set<Lane<Item>>
}

/** Lets each hook's deliveries go in the order in which they came, as many at a time as there are places. */
export class ConcurrencyLimiter<Item> {
  readonly #lanes = new Map<number, Lane<Item>>()
  readonly #hosts = new Map<string, Host<Item>>()
  /** ConcurrencyLimiter that wait for a place among all. */
  readonly #blocked = new Set<Lane<Item>>()
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

  /** How many of a hook are here, going or waiting. */
  count(hook_id: number): number {
    const lane = this.#lanes.get(hook_id)
    return lane ? lane.active + lane.waiting.length : 0
  }

  /** Hooks that have so many here already. */
  fullHooks(many: number): number[] {
    return [...this.#lanes.values()].flatMap(({ hook_id, active, waiting }) => (active + waiting.length >= many ? hook_id : []))
  }

  add(hook_id: number, host: string, width: number, item: Item) {
    const lane = this.#lanes.get(hook_id) ?? { hook_id, host: this.#hostOf(host), waiting: [], active: 0, width }
    this.#lanes.set(hook_id, lane)
    lane.width = width
    lane.waiting.push(item)
    this.#waiting++
    this.#go(lane)
  }

  /** Lets more of a hook's go at the same time. */
  setWidth(hook_id: number, width: number) {
    const lane = this.#lanes.get(hook_id)
    if (!lane) return
    lane.width = width
    this.#go(lane)
  }

  /** Takes out what waits for a hook, or for all. */
  empty(hook_id?: number): Item[] {
    const lanes = [...this.#lanes.values()].filter((lane) => hook_id === undefined || lane.hook_id === hook_id)
    const taken = lanes.flatMap((lane) => lane.waiting.splice(0))
    this.#waiting -= taken.length
    return taken
  }

  #hostOf(name: string): Host<Item> {
    const host = this.#hosts.get(name) ?? { name, active: 0, blocked: new Set() }
    this.#hosts.set(name, host)
    return host
  }

  #go(lane: Lane<Item>) {
    const { host } = lane
    while (lane.waiting.length > 0 && lane.active < lane.width) {
      const full = this.#active >= inTotal ? this.#blocked : host.active >= perHost ? host.blocked : undefined
      if (full) {
        full.add(lane)
        return
      }
      const item = lane.waiting.shift() as Item
      this.#waiting--
      this.#active++
      host.active++
      lane.active++
      void this.#run(item).finally(() => this.#leave(lane))
    }
  }

  /** A place is free: for the hook itself, for another at the same host, or for any. */
  #leave(lane: Lane<Item>) {
    const { host } = lane
    this.#active--
    host.active--
    lane.active--
    // Whoever waits longest comes first; a lane that must wait again does so at the end.
    for (const blocked of [host.blocked, this.#blocked]) this.#letNext(blocked)
    this.#go(lane)
    this.#forget(lane)
  }

  /** One that has nothing to send any more leaves its turn to the next. */
  #letNext(blocked: Set<Lane<Item>>) {
    for (const next of blocked) {
      if (this.#active >= inTotal) return
      const { active } = next
      blocked.delete(next)
      this.#go(next)
      if (next.active > active || blocked.has(next)) return
      this.#forget(next)
    }
  }

  #forget(lane: Lane<Item>) {
    const { host } = lane
    if (lane.active + lane.waiting.length === 0) this.#lanes.delete(lane.hook_id)
    if (host.active === 0 && host.blocked.size === 0) this.#hosts.delete(host.name)
  }
}
