import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Refusal, StartError } from '#platform/errors.ts'
import { type Exit, launch, type Program, spawnProgram } from '#platform/launcher.ts'
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
  timeout?: number
  /** Whether git has its own process group, so that a signal to ours does not reach it. */
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
  const { limit = 1 << 24, cut = false, timeout = 60_000 } = options
  const { status, signal, output, complaint, beyond, late } = await run(args, { ...options, limit, timeout })
  if (status === 0 || (beyond && cut)) return Buffer.concat(output)
  if (beyond) throw new Refusal('invalid', 'This is more than can be read from a repository at once.')
  if (late) throw new Refusal('unavailable', `Git did not finish within ${timeout / 1000} seconds. Try again later.`)
  if (signal) throw endedBySignal()
  throw new Error(`git ${args[0]} failed (${status}): ${complaint.trim()}`)
}

interface Ended extends Exit {
  output: Buffer[]
  complaint: string
  beyond: boolean
  late: boolean
}

async function run(
  args: string[],
  { input, limit, timeout, detached = true }: GitOptions & { limit: number; timeout: number },
): Promise<Ended> {
  const program = await startGit(args, {}, detached)
  const ended = { output: [] as Buffer[], complaint: '', beyond: false, late: false }
  let printed = 0
  const timer = setTimeout(() => {
    ended.late = true
    program.kill('SIGKILL')
  }, timeout)
  program.stdout.on('data', (chunk: Buffer) => {
    if (ended.beyond) return
    ended.output.push(chunk)
    printed += chunk.length
    ended.beyond = printed > limit
    if (ended.beyond) program.kill('SIGKILL')
  })
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    ended.complaint = (ended.complaint + text).slice(-2000)
  })
  program.stdin.end(input ?? '')
  const exit = await program.closed
  clearTimeout(timer)
  return { ...exit, ...ended }
}

/** Starts git in its own process group, or in ours, so that a signal to our group also ends it. */
export async function startGit(
  args: string[],
  settings: Record<string, string> = {},
  detached = true,
  channel = false,
): Promise<Program> {
  const command = { file: 'git', args, env: { ...environment, ...settings }, channel }
  try {
    return await (detached ? launch(command) : spawnProgram(command, false))
  } catch (error) {
    throw describeSpawnError(error)
  }
}

/** Starts git in our process group, with additional pipes from file descriptor 3 on. */
export function spawnGit(args: string[], settings: Record<string, string>, pipes: number): ChildProcessWithoutNullStreams {
  const stdio = ['pipe', 'pipe', 'pipe', ...Array<'pipe'>(pipes).fill('pipe')] as ['pipe', 'pipe', 'pipe']
  const child = spawn('git', args, { env: { ...environment, ...settings }, stdio })
  // A git that ended early closes its pipes; its exit status has the reason. Without free file descriptors there are no pipes.
  for (const pipe of child.stdio ?? []) pipe?.on('error', () => {})
  return child
}
