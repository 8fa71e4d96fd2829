import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, openApp } from '#app.ts'
import type { Belfry } from '#belfry.ts'
import { endStreams } from '#http/stream.ts'
import { type BelfryWorker, openWorker } from '#worker.ts'
import { openBelfry, type WorldParts } from './open-belfry.ts'
import type { Template } from './template.ts'

/** Milliseconds that requests, jobs and deliveries of a generation that is over have to end by themselves. */
const patience = 2000

/**
 * A whole server on a copy of the seeded state, from one reset to the next. Everything that a process remembers belongs to one generation, so a
 * reset cannot leave anything behind.
 */
export class Generation {
  readonly belfry: Belfry
  /** Of its database and its folder. */
  readonly name: string
  readonly #app: App
  readonly #worker: BelfryWorker
  readonly #open = new Set<ServerResponse>()
  /** Whether a request has come, even if a fault keeps it from being served: otherwise, this is still as after a reset. */
  used = false
  #versioned: PromiseLike<unknown> | undefined

  /**
   * Mounts the endpoints while the state is copied. Those of the versioned API are mounted by its first request, because most tests use one API.
   * Gives up when the test server ends, because a worker that loses its database prints that.
   */
  static async open(parts: WorldParts, template: Template, name: string) {
    const { ending } = parts
    ending.throwIfAborted()
    const data = join(parts.cluster.folder, name)
    const copied = template.copy(name, data)
    copied.catch(() => {})
    const belfry = openBelfry(parts, name, data, template.vault)
    const app = await openApp(belfry)
    ending.throwIfAborted()
    await Promise.all([app.web.ready(), copied])
    ending.throwIfAborted()
    return new Generation(belfry, name, app, await openWorker(belfry))
  }

  private constructor(belfry: Belfry, name: string, app: App, worker: BelfryWorker) {
    this.belfry = belfry
    this.name = name
    this.#app = app
    this.#worker = worker
  }

  async serve(listener: 'web' | 'versioned', request: IncomingMessage, response: ServerResponse) {
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
    const { web, versioned } = this.#app
    if (listener === 'web') return web.server.emit('request', request, response)
    this.#versioned ??= versioned.ready()
    await this.#versioned
    versioned.server.emit('request', request, response)
  }

  /** Ends streams at once. Other requests and jobs have a moment to end. */
  async close() {
    const { web, versioned } = this.#app
    await within(patience, this.stopWork())
    for (const response of this.#open) response.destroy()
    // Closing one that is not ready would mount its endpoints first.
    await Promise.all([web.close(), this.#versioned && versioned.close()])
    await within(patience, this.belfry.db[Symbol.asyncDispose]())
  }

  /** No delivery begins after this. Those in flight end first or are cut off, so none arrives during the next test. */
  stopSending() {
    return this.#worker.stopSending(patience)
  }

  async stopWork() {
    this.stopSending().catch(() => {})
    const stopped = this.#worker.stop()
    const { web, versioned } = this.#app
    for (const listener of [web, versioned]) endStreams(listener)
    await Promise.all([stopped, this.#untilAnswered()])
  }

  async #untilAnswered() {
    await Promise.all([...this.#open].map((response) => new Promise((resolve) => response.once('close', resolve))))
  }
}

export async function within(milliseconds: number, work: Promise<unknown>) {
  const over = new AbortController()
  await Promise.race([work, sleep(milliseconds, undefined, { signal: over.signal }).catch(() => {})])
  over.abort()
}
