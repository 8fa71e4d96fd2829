import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { durability } from './syncing.ts'

/** Settings as git reads them from its environment. */
const settings = Object.entries({
  // The data folder may belong to another account than the one that runs us; its contents are ours all the same.
  'safe.directory': '*',
  ...durability,
})

/** Nothing of the machine's or the user's own git settings reaches our repositories. */
const environment = {
  get PATH() {
    return process.env.PATH ?? '/usr/bin:/bin'
  },
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  // Many commits at a time: what walks through history would else give out each by itself, which takes as long to read as all the rest.
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
  /** How many bytes are read of what it prints, about; the rest is left. */
  limit?: number
}

/** Runs git and gives what it prints; a failure carries git's own words. */
export function git(args: string[], { input, encoding, limit = Infinity }: GitOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] })
    const output: Buffer[] = []
    const complaint: Buffer[] = []
    let printed = 0
    child.stdout.on('data', (chunk: Buffer) => {
      output.push(chunk)
      printed += chunk.length
      if (printed > limit) child.kill('SIGKILL')
    })
    child.stderr.on('data', (chunk) => complaint.push(chunk))
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === 0 || printed > limit) resolve(Buffer.concat(output).toString(encoding))
      else reject(new Error(`git ${args[0]} failed (${status}): ${Buffer.concat(complaint).toString().trim()}`))
    })
    // A git that ended early closes its input; its exit status tells the story.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
  })
}

/** Those that serve a request at the moment. */
const serving = new Set<ChildProcessWithoutNullStreams>()
process.on('exit', () => serving.forEach(endGit))

export interface StartOptions {
  /** How many more pipes it has, from number 3 on. */
  pipes?: number
  /** Whether what ends us by our process group leaves it: true for what serves a request. */
  detached?: boolean
}

/**
 * Starts a git that serves a request, in a process group of its own: a Ctrl-C at our terminal is ours to handle, and what it starts
 * itself ends with it.
 */
export function startGit(
  args: string[],
  settings: Record<string, string> = {},
  { pipes = 0, detached = true }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const stdio = ['pipe', 'pipe', 'pipe', ...Array<'pipe'>(pipes).fill('pipe')] as ['pipe', 'pipe', 'pipe']
  const child = spawn('git', args, { env: { ...environment, ...settings }, stdio, detached })
  serving.add(child)
  for (const end of ['close', 'error']) child.once(end, () => serving.delete(child))
  return child
}

export function endGit(child: ChildProcessWithoutNullStreams) {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // It is in our own group, or ended a moment ago.
    child.kill('SIGTERM')
  }
}
