import { type ChildProcess, fork, spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'

export interface Program {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** File descriptor 3 of the program and its children, if the command asks for it. It closes with the program, whoever still has it open. */
  channel: Duplex | undefined
  /** Resolves when the program has ended and its output is read. */
  closed: Promise<Exit>
  kill(signal?: NodeJS.Signals): void
}

export interface Exit {
  status: number | null
  signal: NodeJS.Signals | null
}

export interface Command {
  file: string
  args: string[]
  cwd?: string | undefined
  env: NodeJS.ProcessEnv
  channel?: boolean
}

/** What the launcher's process is asked, and what it answers. */
export type Launch = Command & { id: number }
export type Report =
  | 'ready'
  | ({ id: number } & (
      | { pid: number }
      | Exit
      | { error: { code: string | undefined; syscall: string | undefined; message: string } }
    ))

/** TypeScript in a checkout, JavaScript in the package. */
const program = join(import.meta.dirname, `launcher-process${extname(import.meta.filename)}`)

/** Lets tests count programs. */
const launched = channel('belfry:launcher:launched')
/** In milliseconds. The process of the launcher then ends, because it takes 25 MB. */
const idleTime = 60_000
/** In milliseconds, for streams that arrive after the exit of a short program. */
const streamDelay = 5000

/**
 * Starts a program in its own process group: Ctrl-C in our terminal does not reach it, and a signal also ends its children. Rejects with
 * Node's error if it does not start.
 *
 * A small process starts it, if there is one already. Node starts programs with `fork`, which copies the page tables while nothing else in
 * the process runs: 5 ms for a server of 200 MB, 15 ms for one of 500 MB. The small process takes 0.6 ms of the server's time.
 */
export async function launch(command: Command): Promise<Program> {
  launcher ??= openLauncher()
  launched.publish(command)
  return launcher.ready ? launcher.start(command) : spawnProgram(command, true)
}

interface Launcher {
  ready: boolean
  start(command: Command): Promise<Program>
  /** Removes its process and its socket. */
  end(): void
}

let launcher: Launcher | undefined

const running = new Set<Program>()
process.on('exit', () => {
  for (const program of running) program.kill()
  launcher?.end()
})

/** Starts a program without the launcher, in its own process group if `detached`, otherwise in ours. */
export async function spawnProgram(command: Command, detached: boolean): Promise<Program> {
  const { file, args, cwd, env } = command
  const stdio = Array<'pipe'>(command.channel ? 4 : 3).fill('pipe') as ['pipe', 'pipe', 'pipe']
  const child = spawn(file, args, { cwd, env, stdio, detached })
  const { pid, stdin, stdout, stderr } = child
  const channel = (child.stdio[3] ?? undefined) as Duplex | undefined
  // Without free file descriptors there are no pipes either.
  if (pid === undefined) throw (await once(child, 'error'))[0]
  const closed = new Promise<Exit>((resolve) => child.once('close', (status, signal) => resolve({ status, signal })))
  // A signal that could not be sent; the program still closes.
  child.on('error', () => {})
  child.once('exit', () => channel?.destroy())
  return describe({
    stdin,
    stdout,
    stderr,
    channel,
    closed,
    kill(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) detached ? killGroup(pid, signal) : child.kill(signal)
    },
  })
}

function describe(program: Program) {
  running.add(program)
  program.closed.then(() => running.delete(program))
  // A program that ended early closes its streams; its exit status has the reason.
  for (const stream of [program.stdin, program.stdout, program.stderr, program.channel]) stream?.on('error', () => {})
  return program
}

function killGroup(group: number, signal: NodeJS.Signals) {
  try {
    process.kill(-group, signal)
  } catch {
    // It has just ended.
  }
}

/** A program that the launcher was asked to start. */
interface Start {
  pid?: number
  announced: boolean
  runs: boolean
  has_channel: boolean
  streams: (Socket | undefined)[]
  closings: Promise<void>[]
  started: PromiseWithResolvers<Program>
  ended: PromiseWithResolvers<Exit>
}

const shortage = (message: string, code: string) => Object.assign(new Error(message), { code })

function openLauncher(): Launcher {
  const starts = new Map<number, Start>()
  let folder: string | undefined
  let child: ChildProcess | undefined
  let lastId = 0
  let idle: NodeJS.Timeout | undefined
  const opened: Launcher = { ready: false, start, end }
  const server = createServer(acceptStream).on('error', close)
  try {
    folder = mkdtempSync(join(tmpdir(), 'belfry-launcher-'))
    server.listen(join(folder, 'socket'), openProcess).unref()
  } catch {
    // Without a folder for the socket, programs are started directly.
  }
  return opened

  function openProcess() {
    child = fork(program, [server.address() as string], {
      // Ctrl-C must not end it, because we still start programs while we stop.
      detached: true,
      cwd: '/',
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      execArgv: ['--max-semi-space-size=1', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.on('message', receive).once('error', close).once('exit', close)
    child.unref()
    child.channel?.unref()
  }

  function start(command: Command) {
    const id = ++lastId
    const made: Start = {
      announced: false,
      runs: true,
      has_channel: command.channel ?? false,
      streams: [],
      closings: [],
      started: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    }
    starts.set(id, made)
    clearTimeout(idle)
    child?.channel?.ref()
    child?.send({ cwd: process.cwd(), ...command, id } satisfies Launch, (error) => error && close())
    return made.started.promise
  }

  function acceptStream(stream: Socket) {
    stream.on('error', () => {})
    stream.once('readable', () => {
      const header: Buffer | null = stream.read(8)
      const made = header && starts.get(header.readUInt32LE())
      if (!made) return stream.destroy()
      made.streams[header.readUInt32LE(4)] = stream
      made.closings.push(new Promise((resolve) => stream.once('close', () => resolve())))
      // In the next tick, the stream no longer counts as one that is read by this event, and can flow.
      process.nextTick(announce, made)
    })
  }

  function receive(report: Report) {
    if (report === 'ready') {
      opened.ready = true
      return restIfIdle()
    }
    const made = starts.get(report.id)
    if (!made) return
    if ('pid' in report) {
      made.pid = report.pid
      announce(made)
    } else if ('error' in report) {
      reject(made, Object.assign(new Error(report.error.message), report.error))
      forget(report.id)
    } else {
      made.runs = false
      made.ended.resolve({ status: report.status, signal: report.signal })
      // Without free file descriptors here, the connections of its streams are lost.
      const late = setTimeout(() => reject(made, shortage('The streams of a program did not arrive.', 'EMFILE')), streamDelay)
      const done = () => {
        clearTimeout(late)
        forget(report.id)
      }
      made.started.promise.then(done, done)
    }
  }

  function announce(made: Start) {
    const { pid, streams, closings, started, ended } = made
    const [stdin, stdout, stderr, channel] = streams
    if (made.announced || !pid || !stdin || !stdout || !stderr || made.has_channel !== (channel !== undefined)) return
    made.announced = true
    // Only a socket that is read shows that the program has closed it.
    stdin.resume()
    for (const output of [stdout, stderr]) output.end()
    // Output that no one reads would keep its stream open. The caller first gets the time to read it.
    ended.promise.then(() => setImmediate(() => [stdout, stderr].map((output) => output.resume())))
    ended.promise.then(() => channel?.destroy())
    const closed = Promise.all([ended.promise, ...closings]).then(([exit]) => exit)
    started.resolve(
      describe({ stdin, stdout, stderr, channel, closed, kill: (signal = 'SIGTERM') => made.runs && killGroup(pid, signal) }),
    )
  }

  function reject({ streams, started }: Start, error: Error) {
    started.reject(error)
    for (const stream of streams) stream?.destroy()
  }

  function forget(id: number) {
    starts.delete(id)
    restIfIdle()
  }

  function restIfIdle() {
    if (starts.size) return
    child?.channel?.unref()
    idle = setTimeout(close, idleTime).unref()
  }

  function end() {
    child?.kill('SIGKILL')
    if (folder) rmSync(folder, { recursive: true, force: true })
  }

  function close() {
    // One that never was ready stays, so that it is not tried again for each program.
    if (opened.ready && launcher === opened) launcher = undefined
    opened.ready = false
    clearTimeout(idle)
    server.close()
    end()
    for (const made of starts.values()) {
      if (made.pid) killGroup(made.pid, 'SIGTERM')
      made.runs = false
      made.ended.resolve({ status: null, signal: 'SIGTERM' })
      reject(made, shortage('The process that starts programs has ended.', 'EAGAIN'))
    }
    starts.clear()
  }
}
