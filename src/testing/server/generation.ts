import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type App, openApp } from '#app.ts'
import { type Belfry, noDeliveries } from '#belfry.ts'
import { endOpenStreams, endStreams } from '#http/stream.ts'
import { type BelfryWorker, openWorker } from '#worker.ts'
import { openBelfry, type WorldParts } from './open-belfry.ts'
import { SeededRows } from './seeded-rows.ts'
import type { Template } from './template.ts'

/** Milliseconds that requests, jobs and deliveries of a generation that is over have to end by themselves. */
const patience = 2000
/** Milliseconds that requests and jobs have to end before a reset makes a new generation, which takes about as long. */
const quietPatience = 500

/** A whole server on a copy of the seeded state. A reset puts the state back; if that is not possible, the next generation takes its place. */
export class Generation {
  readonly belfry: Belfry
  /** Of its database and its folder. */
  readonly name: string
  readonly #app: App
  #worker: BelfryWorker
  readonly #template: Template
  readonly #rows: SeededRows
  readonly #open = new Set<ServerResponse>()
  /** Whether something may still run that is not known to end: then the state cannot be put back. */
  #unsure = false
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
    return new Generation(belfry, name, app, await openWorker(belfry), template, new SeededRows(parts.cluster.connectionTo(name)))
  }

  private constructor(belfry: Belfry, name: string, app: App, worker: BelfryWorker, template: Template, rows: SeededRows) {
    this.belfry = belfry
    this.name = name
    this.#app = app
    this.#worker = worker
    this.#template = template
    this.#rows = rows
  }

  async serve(listener: 'web' | 'versioned', request: IncomingMessage, response: ServerResponse) {
    this.#open.add(response)
    response.once('close', () => {
      this.#open.delete(response)
      // The client left, and what it asked for may still be done. Streams only read.
      if (!response.writableFinished && !isStream(response)) this.#unsure = true
    })
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
    await within(patience, Promise.all([this.#rows[Symbol.asyncDispose](), this.belfry.db[Symbol.asyncDispose]()]))
  }

  /**
   * Puts back the seeded state, and forgets what the process knows of the other. False if something does not end in time, or changed what cannot be
   * put back: then this generation is of no more use. No request may come meanwhile.
   */
  async rewind(): Promise<boolean> {
    if (!(await this.#becomesQuiet())) return false
    this.#unsure = true
    const { belfry } = this
    try {
      await this.#rows.putBack()
    } catch (error) {
      belfry.log.debug({ err: error }, 'the rows cannot be put back')
      return false
    }
    this.#template.putBackFiles(belfry.settings.BELFRY_DATA)
    belfry.db.noteRewound()
    belfry.storage.noteRewound()
    Object.assign(belfry.sent_deliveries.counts, noDeliveries().counts)
    belfry.started_at = belfry.clock.now()
    this.#worker = await openWorker(belfry)
    this.used = false
    this.#unsure = false
    return true
  }

  async #becomesQuiet() {
    endOpenStreams(this.belfry)
    const ended = await within(quietPatience, Promise.all([this.#worker.stop(), this.#untilAnswered()]))
    const deadline = performance.now() + quietPatience
    // Twice in a row, because work goes on a turn after it got a connection or a result of git.
    for (let quiet = 0; ended && !this.#unsure && quiet < 2; await nextTurn()) {
      quiet = this.#isBusy ? 0 : quiet + 1
      if (performance.now() > deadline) return false
    }
    return ended && !this.#unsure
  }

  get #isBusy() {
    const { db, storage } = this.belfry
    return db.isBusy || storage.fetching.taken > 0 || storage.reading.taken > 0
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

const isStream = (response: ServerResponse) => `${response.getHeader('content-type')}`.startsWith('text/event-stream')

/** Returns whether the work ended in time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  const late = sleep(milliseconds, false, { signal: over.signal }).catch(() => false)
  const ended = await Promise.race([work.then(() => true), late])
  over.abort()
  return ended
}
