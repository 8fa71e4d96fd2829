import { settings as knownSettings, readSettings } from '#config.ts'
import { StartError } from '#platform/errors.ts'
import type { Logger } from '#platform/log.ts'
import { digest, tokenFrom } from '#platform/secrets.ts'
import { checkSeed } from '#seed/check.ts'
import { readSeedFile } from '#seed/read-seed-file.ts'
import type { WorldAccess, WorldOptions } from '../protocol.ts'
import type { Cluster } from './cluster.ts'
import { Control, type Worlds } from './control.ts'
import type { Ports } from './front.ts'
import { within } from './generation.ts'
import type { WorldParts } from './open-belfry.ts'
import { Template } from './template.ts'
import { World } from './world.ts'
import { WorldClock } from './world-clock.ts'

/** What differs from a server for people: nothing is limited, and everything may be on this machine. */
const usual = {
  BELFRY_HOST: '127.0.0.1',
  // The same in every test server, because only this machine reaches it.
  BELFRY_ADMIN_TOKEN: tokenFrom('bfp_', digest('the admin of a test server')),
  BELFRY_RATE_LIMIT: 'off',
  BELFRY_IMPORTS: 'open',
  BELFRY_PUBLIC_EVENTS_DELAY: '0',
}
/** Settings that a world cannot choose. */
const owned = [
  'BELFRY_HOST',
  'BELFRY_PORT',
  'BELFRY_VERSIONED_PORT',
  'BELFRY_DATA',
  'DATABASE_URL',
  'BELFRY_REPLICA_URL',
  'BELFRY_ROLES',
]

const first = '1'
const freePorts: Ports = { web: 0, versioned: 0 }

export interface NewWorld extends WorldOptions {
  ports?: Ports
}

/** Milliseconds that worlds have to stop their work before their database goes away. */
const patience = 1000

/** The worlds on a PostgreSQL, and the control API. */
export class TestServer {
  readonly #cluster: Cluster
  readonly #log: Logger
  readonly #control: Control
  readonly #templates = new Map<string, Template>()
  readonly #worlds = new Map<string, World>()
  /** What each world was opened with. */
  readonly #options = new Map<string, WorldOptions>()
  readonly #opening = new Set<Promise<unknown>>()
  readonly #ending = new AbortController()
  #count = 0

  static async open(cluster: Cluster, log: Logger, options: NewWorld): Promise<TestServer> {
    const server = new TestServer(cluster, log)
    await Promise.all([server.#control.listen(), server.#open(options)])
    return server
  }

  private constructor(cluster: Cluster, log: Logger) {
    this.#cluster = cluster
    this.#log = log
    const worlds: Worlds = {
      find: (id) => this.#worlds.get(id),
      open: (like, options) => this.#openAnother({ ...this.#options.get(like), ...options }),
      close: (id) => this.#close(id),
    }
    this.#control = new Control(worlds, log)
  }

  /** Of the first world. */
  get access(): WorldAccess {
    const world = this.#worlds.get(first)
    if (!world) throw new Error('The test server is not open yet.')
    return this.#control.accessOf(first, world)
  }

  /** Resolves when its PostgreSQL ends by itself. */
  get died() {
    return this.#cluster.died
  }

  /** Stops all work, because what runs without its database reports that as an error. State that is not removed ends with the cluster. */
  async close() {
    this.#ending.abort()
    this.#control.close()
    await within(patience, Promise.allSettled(this.#opening))
    await within(patience, Promise.all([...this.#worlds.values()].map((world) => world.stop())))
  }

  #openAnother(options: WorldOptions) {
    const opening = this.#open(options).finally(() => this.#opening.delete(opening))
    this.#opening.add(opening)
    return opening
  }

  async #open({ ports = freePorts, ...options }: NewWorld) {
    const { settings = {}, clock } = options
    const id = `${++this.#count}`
    const parts: WorldParts = {
      cluster: this.#cluster,
      log: this.#log,
      clock: new WorldClock(clock === undefined ? undefined : readDate(clock)),
      settings: chosenSettings(settings),
      addresses: { web: '', versioned: '' },
      ending: this.#ending.signal,
    }
    const world = await World.open(parts, this.#template(parts, options), `world_${id}`, ports)
    this.#worlds.set(id, world)
    this.#options.set(id, options)
    return { id, world }
  }

  /** The one that a world with the same options has, or a new one. */
  #template(parts: WorldParts, { seed: given, ...options }: WorldOptions): Template {
    const seed = readSeed(given)
    const key = JSON.stringify([seed, options])
    const known = this.#templates.get(key)
    if (known) return known
    const made = new Template(parts, `template_${this.#templates.size + 1}`, seed)
    this.#templates.set(key, made)
    return made
  }

  async #close(id: string) {
    if (id === first)
      throw new StartError('The first world ends with the test server: end its standard input, or send it SIGTERM.')
    const world = this.#worlds.get(id)
    this.#worlds.delete(id)
    this.#options.delete(id)
    await world?.[Symbol.asyncDispose]()
  }
}

/** An object, or the path of a file. */
function readSeed(given: WorldOptions['seed']) {
  if (given === undefined) return undefined
  return typeof given === 'string' ? readSeedFile(given).seed : checkSeed(given)
}

function chosenSettings(given: Record<string, string>) {
  const refused = owned.filter((name) => name in given)
  if (refused.length) throw new StartError(`A test server chooses ${refused.join(' and ')} itself. Remove it from the settings.`)
  const known = Object.keys(knownSettings).filter((name) => !owned.includes(name))
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length) throw new StartError(`There is no setting ${unknown.join(' and no ')}. Known are: ${known.join(', ')}.`)
  return readSettings({ ...usual, ...given })
}

function readDate(text: string) {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw new StartError(`The clock is "${text}". Give a date such as 2026-06-01T00:00:00Z.`)
  return date
}
