import { spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, WorkerMessage } from '#importer/steps.ts'
import { membersOf, signalGroup } from './process-group.ts'

const program = join(import.meta.dirname, '../../..', 'importer', 'worker', 'main.ts')
/** As the server's own: what is compiled once is compiled for all, see bin/belfry. */
const cache = join(import.meta.dirname, '../../../..', 'node_modules', '.cache', 'belfry')
/** Between the wish that it ends, and its end, in milliseconds. */
const patience = 1000
/** How much is kept of what it complains of, in characters. */
const maxStderr = 16 * 1024

/** A named moment in the life of an import, for whoever wants to watch: a worker has begun a step. */
const stepStarted = channel('belfry:imports:step-started')

/** What came of an order; or how it ended without having said that. */
export type StepAnswer = Exclude<WorkerMessage, { progress: unknown }> | { died: string }
export type Progress = Extract<WorkerMessage, { progress: unknown }>['progress']

/** A worker process, which takes one order after the other: to start one takes longer than many a step. */
export interface WorkerProcess {
  /** The id of the process, and of the group of all that it starts. */
  group: number
  /** Has it do something. When it died over it, nothing of the group is left. */
  handleOrder(order: Order, onProgress: (progress: Progress) => void): Promise<StepAnswer>
  /** The end of what it said on standard error. */
  stderr(): string
  /** Ends it, and all that it started, within little more than a second; nothing of the group is left when this resolves. */
  end(): Promise<void>
}

/** Starts a worker. What is secret in an order goes by its standard input, which nobody else can read. */
export function startWorker(folder: string, memory: number): WorkerProcess {
  // Half is for the programs that it runs, and for what it keeps outside of its heap.
  const heap = Math.max(64, Math.floor(memory / 2 ** 21))
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, '--disable-warning=ExperimentalWarning', program], {
    cwd: folder,
    env: environment(folder),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const group = child.pid ?? 0
  let onProgress: (progress: Progress) => void = () => {}
  let onAnswer: (word: StepAnswer) => void = () => {}
  let stderr = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    const word = readLine(line)
    if (!word) stderr = `${stderr}${line}\n`.slice(-maxStderr)
    else if ('progress' in word) onProgress(word.progress)
    else onAnswer(word)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-maxStderr)
  })
  // A worker that ended early closes its input; how it ended tells the story.
  child.stdin.on('error', () => {})

  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(`${signal ?? code}`))
  })
  const idleTime = new Promise((resolve) => child.once('close', resolve))
  const gone = ended.then(async (how) => {
    if (group) await endGroup(group)
    await Promise.race([idleTime, sleep(patience, undefined, { ref: false })])
    return how
  })
  return {
    group,
    async handleOrder(order, listener) {
      onProgress = listener
      const answer = new Promise<StepAnswer>((resolve) => {
        onAnswer = resolve
      })
      // Told first: whoever stops it here does so before it is over.
      stepStarted.publish({ step: order.step, folder, group })
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return Promise.race([answer, gone.then((how) => ({ died: how }))])
    },
    stderr: () => stderr,
    async end() {
      if (group && signalGroup(group, 'SIGTERM')) {
        const timer = setTimeout(() => signalGroup(group, 'SIGKILL'), patience)
        void ended.then(() => clearTimeout(timer))
      }
      await gone
    },
  }
}

/** Nothing of the server's own settings: some are secret. */
function environment(folder: string) {
  const { PATH = '/usr/bin:/bin', NODE_V8_COVERAGE } = process.env
  return { PATH, LC_ALL: 'C.UTF-8', TMPDIR: folder, NODE_COMPILE_CACHE: cache, ...(NODE_V8_COVERAGE && { NODE_V8_COVERAGE }) }
}

/** What somebody else wrote there is nothing that was said. */
function readLine(line: string): WorkerMessage | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** What a worker left behind ends with it; nothing of it writes any more when this resolves. */
async function endGroup(group: number) {
  const deadline = performance.now() + patience
  signalGroup(group, 'SIGKILL')
  while ((await membersOf(group)).length > 0 && performance.now() < deadline) await sleep(10)
}

/** What may be logged, or shown: a program may repeat what it was told. */
export function redactSecrets(text: string, { origin: { username, password } }: Order) {
  if (!password) return text
  const together = Buffer.from(`${username ?? ''}:${password}`).toString('base64')
  return [together, password, encodeURIComponent(password)].reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
}
