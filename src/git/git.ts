import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Refusal, StartError } from '#platform/errors.ts'
import { describeSpawnError, endedBySignal, GitMissing } from './errors.ts'
import { durability } from './fsync.ts'
import { takeRequestSlot } from './slots.ts'

/** Git reads these settings from its environment. */
const settings = Object.entries({
  // The data folder may belong to another system account than the one that runs Belfry; we trust its contents anyway.
  'safe.directory': '*',
  ...durability,
})

/** Keeps the git settings of the machine and the user out of our repositories. */
const environment = {
  get PATH() {
    return process.env.PATH ?? '/usr/bin:/bin'
  },
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  // Otherwise anyone with push access could replace objects for all readers.
  GIT_NO_REPLACE_OBJECTS: '1',
  // Git then prints many commits at a time. Reading each by itself would take as long as finding it.
  GIT_FLUSH: '0',
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
}

export interface GitOptions {
  input?: string | Buffer
  encoding?: BufferEncoding
  /** Approximate limit of the output in bytes. More is an error, or dropped with `cut`. */
  limit?: number
  cut?: boolean
  /** Milliseconds until git is killed and the caller refused. */
  patience?: number
  /** See `startGit`. */
  detached?: boolean
}

/** Refuses to start a server that has no git. */
export async function checkGit() {
  await git(['--version']).catch((error) => {
    throw error instanceof GitMissing ? new StartError(`${error.message} Install git 2.38 or later.`) : error
  })
}

/** Runs git and returns its output. An error contains git's own message. */
export async function git(args: string[], options: GitOptions = {}): Promise<string> {
  return (await readGit(args, options)).toString(options.encoding)
}

/**
 * Returns the output as bytes. Event listeners only collect and end; code that can throw runs after them, so that an exception rejects
 * this promise and does not end the process.
 */
export async function readGit(args: string[], options: GitOptions = {}): Promise<Buffer> {
  using _ = await takeRequestSlot()
  const { limit = 1 << 24, cut = false, patience = 60_000 } = options
  const { status, signal, output, complaint, beyond, late } = await run(args, { ...options, limit, patience })
  if (status === 0 || (beyond && cut)) return Buffer.concat(output)
  if (beyond) throw new Refusal('invalid', 'This is more than can be read from a repository at once.')
  if (late) throw new Refusal('unavailable', `Git did not finish within ${patience / 1000} seconds. Try again later.`)
  if (signal) throw endedBySignal()
  throw new Error(`git ${args[0]} failed (${status}): ${complaint.trim()}`)
}

interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  output: Buffer[]
  complaint: string
  beyond: boolean
  late: boolean
}

function run(args: string[], { input, limit, patience, detached = true }: GitOptions & { limit: number; patience: number }) {
  return new Promise<Ended>((resolve, reject) => {
    const child = startGit(args, {}, { detached })
    if (child.pid === undefined) return void child.once('error', (error) => reject(describeSpawnError(error)))
    const ended: Ended = { status: null, signal: null, output: [], complaint: '', beyond: false, late: false }
    let printed = 0
    const timer = setTimeout(() => {
      ended.late = true
      endGit(child, 'SIGKILL')
    }, patience)
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(describeSpawnError(error))
    })
    child.once('close', (status, signal) => {
      clearTimeout(timer)
      resolve({ ...ended, status, signal })
    })
    child.stdout.on('data', (chunk: Buffer) => {
      if (ended.beyond) return
      ended.output.push(chunk)
      printed += chunk.length
      ended.beyond = printed > limit
      if (ended.beyond) endGit(child, 'SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ended.complaint = (ended.complaint + text).slice(-2000)
    })
    child.stdin.end(input ?? '')
  })
}

/** The running processes. */
const running = new Set<ChildProcessWithoutNullStreams>()
process.on('exit', () => {
  for (const child of running) endGit(child)
})

export interface StartOptions {
  /** The number of additional pipes, from file descriptor 3 on. */
  pipes?: number
  /** Whether git has its own process group, so that a signal to ours does not reach it. */
  detached?: boolean
}

/** Starts git in its own process group: Ctrl-C in our terminal reaches only us, and ending the group also ends git's children. */
export function startGit(
  args: string[],
  settings: Record<string, string> = {},
  { pipes = 0, detached = true }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const stdio = ['pipe', 'pipe', 'pipe', ...Array<'pipe'>(pipes).fill('pipe')] as ['pipe', 'pipe', 'pipe']
  const child = spawn('git', args, { env: { ...environment, ...settings }, stdio, detached })
  running.add(child)
  for (const end of ['close', 'error']) child.once(end, () => running.delete(child))
  // A git that ended early closes its pipes; its exit status has the reason. Without free file descriptors there are no pipes.
  for (const pipe of child.stdio ?? []) pipe?.on('error', () => {})
  return child
}

export function endGit(child: ChildProcessWithoutNullStreams, how: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, how)
  } catch {
    // It is in our process group, or has just ended.
    child.kill(how)
  }
}
