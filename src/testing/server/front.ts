import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartError } from '#platform/errors.ts'
import { codeOf } from '#platform/unavailable.ts'
import { selfHosted } from '#variants.ts'
import type { Faults } from './faults.ts'
import type { Generation } from './generation.ts'
import type { RequestLog } from './requests.ts'

export interface Ports {
  /** 0 for a free port. */
  web: number
  versioned: number
}

/** The world behind the listeners. */
export interface Served {
  requests: RequestLog
  faults: Faults
  current: Generation
  /** Another one after each reset. */
  turn: object
  /** Resolves when requests can be served; undefined if they can be served now. */
  resetting: Promise<void> | undefined
  userOf(token: string): string | undefined
}

/**
 * The two listeners of a world, which stay when its state is put back or replaced. Requests are recorded and faults happen here, before the listeners
 * of the server, which know nothing of tests.
 */
export class Front implements AsyncDisposable {
  readonly #servers: Server[]
  readonly addresses: { web: string; versioned: string }

  static async open(world: Served, ports: Ports) {
    const web = await listen(world, 'web', ports.web)
    return new Front([web, await listen(world, 'versioned', ports.versioned)])
  }

  private constructor(servers: [Server, Server]) {
    this.#servers = servers
    const [web, versioned] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    this.addresses = { web: web ?? '', versioned: versioned ?? '' }
  }

  async [Symbol.asyncDispose]() {
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
  }
}

async function listen(world: Served, listener: 'web' | 'versioned', port: number) {
  const [api, prefix] = listener === 'web' ? (['self_hosted', selfHosted.prefix] as const) : (['versioned', ''] as const)
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    while (world.resetting) await world.resetting
    const recording = world.requests.record(api, prefix, request, response, (token) => world.userOf(token))
    const { current, turn } = world
    current.used = true
    const fault = world.faults.take(recording)
    if (fault && !(await world.faults.apply(fault, recording))) return
    // A request that was delayed until after a reset belongs to a test that is over.
    if (turn === world.turn) await current.serve(listener, request, response)
    else response.socket?.destroy()
  }
  const server = createServer((request, response) => void serve(request, response))
  // Test suites pause between requests, and a client that reuses a connection at the moment of its end fails.
  server.keepAliveTimeout = 300_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(codeOf(error) === 'EADDRINUSE' ? new StartError(`Another program listens on port ${port}. Choose another.`) : error),
    )
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}
