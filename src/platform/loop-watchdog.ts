import type { Logger } from './log.ts'

/** A request or a job, to name what blocked the event loop. */
export interface Work {
  /** The route or the task, without names from the request. */
  what: string
  id: string | undefined
  /** When its last known step began or ended, as `performance.now()`. */
  at: number
}

/** In milliseconds. A page of events takes a tenth of it. */
const longest = 250
const interval = 50
const mostShown = 5
const mostEnded = 10

/** All servers of a process share its event loop, so this is state of the process. */
const running = new Set<Work>()
const ended: Work[] = []

/** How often, and for how many seconds, the loop was blocked, by the work that most likely did it. */
export const blockages = new Map<string, { count: number; seconds: number }>()

export function beginWork(what: string, id?: string): Work {
  const work = { what, id, at: performance.now() }
  running.add(work)
  return work
}

/** The latest step is the most likely one to have blocked the loop. */
export function continueWork(work: Work) {
  work.at = performance.now()
}

export function endWork(work: Work) {
  running.delete(work)
  continueWork(work)
  if (ended.push(work) > mostEnded) ended.shift()
}

export async function trackWork<T>(what: string, run: () => Promise<T>): Promise<T> {
  const work = beginWork(what)
  try {
    return await run()
  } finally {
    endWork(work)
  }
}

/**
 * Logs and counts when the event loop was blocked, and by what. It shows what ran at that time, the most likely first: a step after a
 * query of the database is not seen. A blockage with little CPU time was caused by the machine, and is not a warning.
 */
export function watchLoop(log: Logger): Disposable {
  let since = performance.now()
  let cpu = process.threadCpuUsage()
  const timer = setInterval(() => {
    const now = performance.now()
    const blocked = now - since - interval
    if (blocked > longest) report(log, since, blocked, process.threadCpuUsage(cpu))
    cpu = process.threadCpuUsage()
    since = performance.now()
  }, interval).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function report(log: Logger, since: number, blocked: number, { user, system }: NodeJS.CpuUsage) {
  const found = [...running, ...ended.filter(({ at }) => at >= since)].sort((one, other) => other.at - one.at)
  const cpu_ms = Math.round((user + system) / 1000)
  const isOurs = cpu_ms > blocked / 2
  const likely = isOurs ? (found[0]?.what ?? 'unknown') : 'the machine'
  const known = blockages.get(likely) ?? { count: 0, seconds: 0 }
  blockages.set(likely, { count: known.count + 1, seconds: known.seconds + blocked / 1000 })
  log[isOurs ? 'warn' : 'info'](
    {
      ms: Math.round(blocked),
      cpu_ms,
      running: found.slice(0, mostShown).map(({ what, id }) => (id === undefined ? what : `${what} ${id}`)),
    },
    'the event loop was blocked: no other request was served in this time',
  )
}
