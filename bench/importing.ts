import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { call, type RunningBelfry } from './belfry.ts'
import { median } from './report.ts'

const run = promisify(execFile)

/** Seconds that a program takes. */
export async function timeProgram(program: string, args: string[], environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const begun = performance.now()
  await run(program, args, { env: { ...process.env, ...environment }, maxBuffer: 1 << 28 })
  return (performance.now() - begun) / 1000
}

/** Seconds that something of our own takes. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

export interface Brought {
  seconds: number
  /** The most memory that a process of ours which converts has had, in bytes. */
  peak: number
}

let number = 0

/** Imports as people do: a new repository, a request, and questions until it is complete, with proof and all. */
export async function bring(
  belfry: RunningBelfry,
  source: { vcs: string; vcs_url: string },
  verify: 'sample' | 'full' = 'sample',
): Promise<Brought> {
  const name = `import-${++number}`
  await call(belfry, 'POST', '/user/repos', belfry.token, { name })
  const path = `/repos/admin/${name}/import`
  let peak = 0
  let worker: string | undefined
  const begun = performance.now()
  await call(belfry, 'PUT', `${path}?verify=${verify}`, belfry.token, source)
  for (;;) {
    const { status, ...rest } = await call(belfry, 'GET', path, belfry.token)
    if (status === 'complete') return { seconds: (performance.now() - begun) / 1000, peak }
    if (!underWay.includes(status)) throw new Error(`the import ended as ${status}: ${JSON.stringify(rest)}`)
    // Looked for until it is there: to go through all processes takes as long as a question does.
    worker ??= findWorker()
    peak = Math.max(peak, worker ? peakOf(worker) : 0)
    await sleep(Math.max(leastPause, (performance.now() - begun) / 50))
  }
}

/** The same three times; the one in the middle counts. */
export async function bringThrice(belfry: RunningBelfry, source: { vcs: string; vcs_url: string }): Promise<Brought> {
  return middleOf([await bring(belfry, source), await bring(belfry, source), await bring(belfry, source)])
}

export function middleOf(all: Brought[]): Brought {
  return { seconds: median(all.map(({ seconds }) => seconds)), peak: Math.max(...all.map(({ peak }) => peak)) }
}

/** Between two questions, in milliseconds, and longer as time goes by: each takes some of the time that is measured. */
const leastPause = 50

const underWay = ['detecting', 'importing', 'mapping', 'pushing']

const findWorker = () =>
  readdirSync('/proc').findLast((pid) => /^\d+$/.test(pid) && read(pid, 'cmdline').includes('importer/worker/main.ts'))

const peakOf = (pid: string) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(pid, 'status'))?.[1] ?? 0) * 1024

/** Processes end while we look. */
function read(pid: string, name: string) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
