import { createSocket } from 'node:dgram'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition, but not for ever: longer than a busy machine needs. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, patience = 60_000) {
  const deadline = performance.now() + patience
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`)
    await sleep(10)
  }
}

/** Counts steps of this process's own timers: on a busy machine they are as late as what is being waited for. */
export function countSteps(milliseconds: number) {
  const counter = { steps: 0, [Symbol.dispose]: () => clearInterval(timer) }
  const timer = setInterval(() => counter.steps++, milliseconds)
  return counter
}

/** Whether the system knows the process: it runs, or has ended and its parent has not noticed. */
export function isListed(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The processes that work in a folder or below it, as PostgreSQL's do in theirs. */
export function processesIn(folder: string) {
  return processes().filter((pid) => {
    const place = attempt(() => readlinkSync(`/proc/${pid}/cwd`))
    return place !== undefined && `${place}/`.startsWith(`${folder}/`)
  })
}

export function childrenOf(parent: number) {
  return processes().filter((pid) => {
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? ''
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
  })
}

/** The arguments of a process; nothing if it has ended meanwhile. */
export function commandOf(pid: number) {
  return attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ?? ''
}

/** The arguments of all running processes. */
export function commandsNow() {
  return processes().map(commandOf)
}

function processes() {
  return (attempt(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name)).map(Number)
}

/** A process that is gone already is none to complain about. */
export function kill(pid: number, signal: NodeJS.Signals) {
  attempt(() => process.kill(pid, signal))
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

let candidate = 20_000 + ((process.pid * 37) % 10_000)

/**
 * A port for a server that is told its port. It is below those that the system gives to connections and to servers that ask for any, and
 * no other test gets it while this process lives.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    candidate = candidate >= 30_000 ? 20_000 : candidate + 1
    const port = candidate
    if ((await claim(port)) && (await isFree(port))) return port
  }
}

/** By the UDP port of the same number, which nobody here needs, and which this process holds until it ends. */
function claim(port: number) {
  const socket = createSocket('udp4').unref()
  return new Promise<boolean>((resolve) => {
    socket.once('error', () => socket.close(() => resolve(false)))
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  })
}

function isFree(port: number) {
  const server = createServer()
  return new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
