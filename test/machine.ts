import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition, but not for ever. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, patience = 30_000) {
  const deadline = performance.now() + patience
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`)
    await sleep(10)
  }
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

/** Below the ports that the system gives to outgoing connections, so that none of those takes it meanwhile. */
let candidate = 20_000 + ((process.pid * 37) % 10_000)
export async function freePort(): Promise<number> {
  for (;;) {
    candidate = candidate >= 30_000 ? 20_000 : candidate + 1
    const port = candidate
    const server = createServer()
    const free = await new Promise((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}
