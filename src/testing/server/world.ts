import { rm } from 'node:fs/promises'
import type { Authorization, WorldAccess } from '../protocol.ts'
import { authorize } from './authorize.ts'
import { Deliveries } from './deliveries.ts'
import { Faults } from './faults.ts'
import { Front, type Ports } from './front.ts'
import { Generation } from './generation.ts'
import type { WorldParts } from './open-belfry.ts'
import { RequestLog } from './requests.ts'
import type { SeededAccess, Template } from './template.ts'

/** A Belfry of its own within the test server, with its state, addresses and clock. */
export class World implements AsyncDisposable {
  readonly requests = new RequestLog()
  readonly faults: Faults
  readonly #parts: WorldParts
  readonly #name: string
  readonly #template: Template
  readonly #logins = new Map<string, string>()
  #seeded: SeededAccess | undefined
  #front: Front | undefined
  #current: Generation | undefined
  #deliveries: Deliveries | undefined
  #last: Promise<unknown> = Promise.resolve()
  #count = 0
  #turn = {}
  #resetting: Promise<void> | undefined
  readonly #retiring = new Set<Promise<void>>()

  static async open(parts: WorldParts, template: Template, name: string, ports: Ports): Promise<World> {
    const world = new World(parts, template, name)
    try {
      await world.#open(ports)
      return world
    } catch (error) {
      await world[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(parts: WorldParts, template: Template, name: string) {
    this.#parts = parts
    this.#template = template
    this.#name = name
    this.faults = new Faults(
      parts.clock,
      () => `${parts.addresses.web}/docs`,
      (login) => this.#seeded?.users[login]?.id,
    )
  }

  async #open(ports: Ports) {
    this.#front = await Front.open(this, ports)
    Object.assign(this.#parts.addresses, this.#front.addresses)
    const [generation, seeded] = await Promise.all([this.#prepare(), this.#template.access])
    for (const { login, token } of Object.values(seeded.users)) this.#logins.set(token, login)
    this.#seeded = seeded
    this.#enter(generation)
  }

  #prepare() {
    return Generation.open(this.#parts, this.#template, `${this.#name}_${++this.#count}`)
  }

  /** Begins with nothing that happened before. */
  #enter(generation: Generation) {
    this.#current = generation
    this.#turn = {}
    this.#deliveries?.close()
    this.#deliveries = new Deliveries(generation.belfry)
    this.clock.reset()
    this.requests.clear()
    this.faults.clear()
  }

  get turn() {
    return this.#turn
  }

  get resetting() {
    return this.#resetting
  }

  /** Serves requests until the next reset. */
  get current(): Generation {
    if (!this.#current) throw new Error('The world is not open yet.')
    return this.#current
  }

  get deliveries(): Deliveries {
    if (!this.#deliveries) throw new Error('The world is not open yet.')
    return this.#deliveries
  }

  get clock() {
    return this.#parts.clock
  }

  /** Without the address of the control API, which this world does not know. */
  get access(): Omit<WorldAccess, 'control'> {
    if (!this.#seeded) throw new Error('The world is not open yet.')
    const { web: url, versioned: versioned_url } = this.#parts.addresses
    return { url, versioned_url, ...this.#seeded }
  }

  /** Those whose tokens `userOf` knows. */
  get logins(): string[] {
    return Object.keys(this.access.users)
  }

  /** The login of a token of the seed. */
  userOf(token: string) {
    return this.#logins.get(token)
  }

  /** What the page of the OAuth flow does when the user agrees or refuses. Returns the address that the browser is sent to. */
  authorize(asked: Authorization): Promise<string> {
    return this.#inTurn(() => {
      this.current.used = true
      return authorize(this.current.belfry, asked)
    })
  }

  /** Puts back the seeded state. */
  reset(): Promise<void> {
    return this.#inTurn(() => this.#reset())
  }

  /** What is asked for at the same time happens one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #reset() {
    const old = this.current
    // Suites that reset before and after each test need one state for both.
    if (!old.used && !this.clock.moved) return this.#enter(old)
    // Until then, requests that receivers send belong to the old state.
    await old.stopSending()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#resetting = promise
    try {
      this.#enter(old)
      if (await old.rewind()) return
      this.#enter(await this.#prepare())
      this.#retire(old)
    } finally {
      this.#resetting = undefined
      resolve()
    }
  }

  #retire(generation: Generation) {
    const { log, cluster } = this.#parts
    const work = async () => {
      await generation.close()
      await cluster.dropDatabase(generation.name)
      await rm(generation.belfry.settings.BELFRY_DATA, { recursive: true, force: true, maxRetries: 3 })
    }
    const retiring = work()
      .catch((error) => log.warn({ err: error }, 'could not remove the state before a reset'))
      .finally(() => this.#retiring.delete(retiring))
    this.#retiring.add(retiring)
  }

  /** Ends requests and jobs, and leaves the state to the end of the cluster. */
  async stop() {
    await this.#front?.[Symbol.asyncDispose]()
    await Promise.all([...this.#retiring, this.#current?.stopWork()])
  }

  async [Symbol.asyncDispose]() {
    await this.#last
    await this.#front?.[Symbol.asyncDispose]()
    if (this.#current) this.#retire(this.#current)
    await Promise.all(this.#retiring)
  }
}
