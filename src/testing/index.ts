export type { Seed, SeededApp, SeededUser } from '#seed/format.ts'

import { BelfryTestError, ControlClient, type ServerLife } from './control-client.ts'
import { checkOptions } from './options.ts'
import type { WorldAccess, WorldOptions } from './protocol.ts'
import { ServerProcess } from './server-process.ts'
import { World } from './world.ts'

export { BelfryTestError } from './control-client.ts'
export type { EventPayloads, PayloadOf } from './payloads.ts'
export type { Delivery, DeliveryMatch, RecordedRequest, WorldOptions } from './protocol.ts'
export type {
  ClockControl,
  Deliveries,
  FaultOptions,
  InstalledFaultHandle,
  Match,
  OctokitOptions,
  Requests,
  User,
  World,
} from './world.ts'

export interface StartOptions<Login extends string = string> extends WorldOptions<Login> {
  /** Port of the pages, git and the self-hosted API; a free one unless given. */
  port?: number
  /** Port of the versioned API; a free one unless given. */
  versionedPort?: number
  /** Lowest level that is logged to standard error: `error` unless given. */
  log?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
}

/** A test server in a process of its own, and its first world. Closing it ends the process and removes its data. */
export class BelfryServer<Login extends string = string> extends World<Login> {
  readonly #process: ServerProcess

  readonly #life: ServerLife

  constructor(access: WorldAccess, process: ServerProcess) {
    const life = { closed: false }
    super(access, life)
    this.#process = process
    this.#life = life
  }

  /** The id of the server's process. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  protected override end(): Promise<void> {
    this.#life.closed = true
    return this.#process.stop()
  }
}

/** Starts a test server. It ends with the process that started it, at the latest. */
export async function startBelfry<Login extends string = string>(
  options: StartOptions<Login> = {},
): Promise<BelfryServer<Login>> {
  checkOptions('startBelfry', options, ['seed', 'settings', 'clock', 'port', 'versionedPort', 'log'])
  const { seed, port, versionedPort, log, clock, settings = {} } = options
  for (const [name, value] of Object.entries({ port, versionedPort }))
    if (value !== undefined && typeof value !== 'number') throw new BelfryTestError(`${name} must be a number.`)
  const given = {
    '--port': port,
    '--versioned-port': versionedPort,
    '--log': log,
    '--clock': clock,
    '--seed': typeof seed === 'object' ? '-' : seed,
  }
  const process = new ServerProcess(
    [
      ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name, `${value}`])),
      ...Object.entries(settings).flatMap(([name, value]) => ['--setting', `${name}=${value}`]),
    ],
    typeof seed === 'object' ? JSON.stringify(seed) : undefined,
  )
  const access = await process.access
  process.detach()
  return new BelfryServer(access, process)
}

/** The first world of a server that another process started, by its `control` address. To share one server among test files, give each a `world()` of it. */
export async function connectBelfry(control: string | undefined): Promise<World> {
  if (!control) {
    const message = 'The control address is missing. Give connectBelfry the "control" of a test server'
    throw new BelfryTestError(`${message}. If it comes from a variable such as BELFRY_CONTROL, set that.`)
  }
  if (!/^http:\/\/[^/]/.test(control) || !URL.canParse(control))
    throw new BelfryTestError(`"${control}" is no control address. Use the "control" of a test server.`)
  const life = { closed: false }
  const access = await new ControlClient(control, life).call<Partial<WorldAccess>>('GET', '')
  // Other servers answer in JSON too.
  if (!access.control) throw new BelfryTestError(`${control} is no control address. Use the "control" of a test server.`)
  return new World(access as WorldAccess, life)
}
