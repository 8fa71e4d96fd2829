import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Person } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'
import type { Measured, Order, Place } from './measured-process.ts'

export interface Sent {
  method: string
  url: string
  headers: Record<string, string>
  body?: string | Buffer | undefined
}

export interface Answered {
  /** 0 if the server did not respond in time. */
  status: number
  text: string
  /** Where the response leads. */
  location: string | undefined
}

/** The loop was busy with one request for longer than the fuzzer waits, in milliseconds of processor time. */
export class Stuck extends Error {
  readonly cpu: number

  constructor(cpu: number) {
    super(`The server was busy with it for ${Math.round(cpu)} ms and had not finished.`)
    this.cpu = cpu
  }
}

/** In milliseconds. */
const patience = 5000

/** A world in a process of its own, because a request may block it for ever. One request at a time. */
export class MeasuredWorld implements AsyncDisposable {
  readonly place: Place
  readonly ada: Person
  readonly cookie: string
  readonly #child: ChildProcess
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  static async open(seed: number): Promise<MeasuredWorld> {
    const child = fork(join(import.meta.dirname, 'measured-process.ts'), [String(seed)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const first = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)])
    if (!first) throw new Error('The world did not open.')
    const place = first[0] as Place
    const guest = new Guest(place)
    await guest.signIn('ada')
    return new MeasuredWorld(child, place, [...guest.cookies].map(([name, value]) => `${name}=${value}`).join('; '))
  }

  constructor(child: ChildProcess, place: Place, cookie: string) {
    this.#child = child
    this.place = place
    this.cookie = cookie
    this.ada = new Person('ada', place.ada, place)
  }

  /** Sends a request and measures what it costs the server. Throws Stuck if that does not end. */
  async measure(sent: Sent, careful = false): Promise<Measured & Answered> {
    const before = this.#cpu()
    await this.#order('begin')
    const answered = await this.send(sent).catch((): Answered => ({ status: 0, text: '', location: undefined }))
    const measured = await this.#order(careful ? 'end slowly' : 'end')
    if (!measured) throw new Stuck(this.#cpu() - before)
    return { ...measured, ...answered }
  }

  send({ method, url, headers, body }: Sent): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>()
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const asked = request(url, {
      method,
      headers: { ...headers, ...length },
      agent: this.#agent,
      signal: AbortSignal.timeout(patience),
    })
    asked.on('error', reject)
    asked.on('response', (response) => {
      const { statusCode: status = 0, headers: given } = response
      const known = { status, location: given.location }
      // A stream does not end.
      if (`${given['content-type']}`.startsWith('text/event-stream')) {
        response.on('error', () => {}).destroy()
        return resolve({ ...known, text: '' })
      }
      buffer(response).then((read) => resolve({ ...known, text: read.toString() }), reject)
    })
    asked.end(body)
    return promise
  }

  /** Undefined if the loop does not come to the order in time. */
  async #order(order: Order): Promise<Measured | undefined> {
    const signal = AbortSignal.timeout(2 * patience)
    const answer = once(this.#child, 'message', { signal }).catch(() => undefined)
    this.#child.send(order)
    const [measured] = ((await answer) ?? []) as Measured[]
    return measured
  }

  /** The processor time of all threads, in milliseconds, as the system counts it: a blocked process cannot say it. */
  #cpu() {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return 10 * (Number(fields[11]) + Number(fields[12]))
  }

  async [Symbol.asyncDispose]() {
    this.#agent.destroy()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
