import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BelfryTestError } from './control-client.ts'
import type { WorldAccess } from './protocol.ts'

const program = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'belfry')

/** A running `belfry test-server`. Its own process, because Belfry runs on a Node of its own, whatever runs the tests. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly access: Promise<WorldAccess>
  readonly #ended: Promise<void>

  constructor(options: string[], firstLine: string | undefined) {
    const child = spawn(program, ['test-server', ...options], { stdio: 'pipe' })
    this.#child = child
    let [printed, message, started] = ['', '', false]
    child.stderr.on('data', (text: Buffer) => {
      if (started) process.stderr.write(text)
      else message += text
    })
    this.access = new Promise((resolve, reject) => {
      child.stdout.setEncoding('utf8')
      child.stdout.on('data', (text: string) => {
        printed += text
        if (!printed.endsWith('\n')) return
        started = true
        resolve(JSON.parse(printed))
      })
      child.once('error', (error) => reject(new BelfryTestError(`The test server cannot be started: ${error.message}`)))
      // Not at its exit, because the message may arrive after that.
      child.once('close', (status, signal) => {
        reject(new BelfryTestError(message.trim() || `The test server ended (${signal ?? status}) instead of starting.`))
      })
    })
    this.#ended = new Promise((resolve) => child.once('close', () => resolve()))
    // It may have ended already.
    child.stdin.on('error', () => {})
    if (firstLine !== undefined) child.stdin.write(`${firstLine}\n`)
  }

  get pid() {
    return this.#child.pid
  }

  /** A test run that forgets to close the server ends all the same, and its server with it. */
  detach() {
    this.#child.unref()
    const { stdin, stdout, stderr } = this.#child
    for (const stream of [stdin, stdout, stderr]) (stream as unknown as { unref(): void }).unref()
  }

  async stop(): Promise<void> {
    this.#child.ref()
    this.#child.stdin?.end()
    await this.#ended
  }
}
