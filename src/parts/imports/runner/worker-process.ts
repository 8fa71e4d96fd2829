import { spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, WorkerMessage } from '#importer/steps.ts'
import { membersOf, signalGroup } from './process-group.ts'

/** TypeScript in a checkout, JavaScript in the package. */
const program = join(import.meta.dirname, '../../..', 'importer', 'worker', `main${extname(import.meta.filename)}`)
/** In milliseconds, between SIGTERM and SIGKILL. */
const killDelay = 1000
/** In megabytes. Below this, V8 collects no old objects. It counts buffers too, so it would collect for every few megabytes read. */
const initialHeap = 96
/** In characters. */
const maxStderr = 16 * 1024

/** Lets tests observe that a worker starts a step. */
const stepStarted = channel('belfry:imports:step-started')

/** The last message for an order, or the exit status of a worker that died. */
export type StepAnswer = Exclude<WorkerMessage, { progress: unknown }> | { died: string }
export type Progress = Extract<WorkerMessage, { progress: unknown }>['progress']

/** Orders contain secrets, so they go to standard input, which other users cannot read. */
export function startWorker(folder: string, memory: number) {
  // The other half is for child processes and for memory outside of the heap.
  const heap = Math.max(64, Math.floor(memory / 2 ** 21))
  const sizes = [`--max-old-space-size=${heap}`, `--initial-old-space-size=${Math.min(initialHeap, heap)}`]
  const child = spawn(process.execPath, [...sizes, '--disable-warning=ExperimentalWarning', program], {
    cwd: folder,
    env: environment(folder),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const group = child.pid ?? 0
  let onProgress: (progress: Progress) => void = () => {}
  let onAnswer: (message: StepAnswer) => void = () => {}
  let stderr = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = readLine(line)
    if (!message) stderr = `${stderr}${line}\n`.slice(-maxStderr)
    else if ('progress' in message) onProgress(message.progress)
    else onAnswer(message)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-maxStderr)
  })
  // A worker that ended early closes its input; its exit status is reported.
  child.stdin.on('error', () => {})

  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(`${signal ?? code}`))
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const gone = ended.then(async (how) => {
    if (group) await endGroup(group)
    await Promise.race([closed, sleep(killDelay, undefined, { ref: false })])
    return how
  })
  return {
    /** The id of the process and of its process group. */
    group,
    /** Runs an order. If the worker dies, no process of the group is left when this resolves. */
    async handleOrder(order: Order, listener: (progress: Progress) => void) {
      onProgress = listener
      const answer = new Promise<StepAnswer>((resolve) => {
        onAnswer = resolve
      })
      // Published before the order is sent, so that a test can stop the worker during the step.
      stepStarted.publish({ step: order.step, folder, group })
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return Promise.race([answer, gone.then((how) => ({ died: how }))])
    },
    /** The end of its standard error. */
    stderr: () => stderr,
    /** Ends the process group within about a second. No process of the group is left when this resolves. */
    async end() {
      if (group && signalGroup(group, 'SIGTERM')) {
        const timer = setTimeout(() => signalGroup(group, 'SIGKILL'), killDelay)
        void ended.then(() => clearTimeout(timer))
      }
      await gone
    },
  }
}

/** A worker process. It takes several orders in turn, because starting a process takes longer than many steps. */
export type WorkerProcess = ReturnType<typeof startWorker>

/** Without the settings of the server, because some are secret. */
function environment(folder: string) {
  const { PATH = '/usr/bin:/bin', NODE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env
  return { PATH, LC_ALL: 'C.UTF-8', TMPDIR: folder, NODE_COMPILE_CACHE, ...(NODE_V8_COVERAGE && { NODE_V8_COVERAGE }) }
}

/** Lines of other programs are not messages. */
function readLine(line: string): WorkerMessage | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Kills the rest of the group. None of it writes any more when this resolves. */
async function endGroup(group: number) {
  const deadline = performance.now() + killDelay
  signalGroup(group, 'SIGKILL')
  while ((await membersOf(group)).length > 0 && performance.now() < deadline) await sleep(10)
}

/** For logs and messages: a program may repeat its input. */
export function redactSecrets(text: string, { origin: { username, password } }: Order) {
  if (!password) return text
  const together = Buffer.from(`${username ?? ''}:${password}`).toString('base64')
  return [together, password, encodeURIComponent(password)].reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
}
