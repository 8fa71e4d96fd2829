import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { join } from 'node:path'
import { root } from './files.ts'
import type { Report, TestReport } from './messages.ts'
import { StolenTime } from './stolen-time.ts'
import type { Tally } from './tally.ts'

/** Milliseconds in which a process loads the program and its first file, beside other work. */
const toLoad = 60_000

/** A test is ended after this many times its limit: the host of a virtual machine may have taken most of that. */
const patience = 3
const stolen = new StolenTime()

/** Runs the files of a queue in a process, and those that are left in another if a file ends it. No test takes longer than `limit` milliseconds. */
export async function runQueue(queue: string[], limit: number, tally: Tally) {
  while (queue.length) await runProcess(queue, limit, tally)
}

/** A process of tests of a checkout, which asks for files. No test takes longer than `limit` milliseconds. */
export function startWorker(checkout: string, limit: number, options: ForkOptions = {}) {
  const folder = join(checkout, 'test/run')
  return fork(join(folder, 'worker.ts'), {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    ...options,
    execArgv: [`--test-timeout=${limit}`, `--test-reporter=${join(folder, 'reporter.ts')}`, ...(options.execArgv ?? [])],
  })
}

async function runProcess(queue: string[], limit: number, tally: Tally) {
  const child = startWorker(root, limit * patience)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => tally.screen.print(String(data)))
  let kill = 'ended'
  const silence = limit * patience + toLoad
  const watch = new Watch(silence, () => {
    kill = `was silent for ${silence / 1000} seconds and was ended`
    child.kill('SIGKILL')
  })
  child.on('message', (report: Report) => {
    watch.rest()
    receive(report, child, queue, tally, limit)
  })
  const code = await new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
  watch.stop()
  const file = tally.running.get(child)
  tally.running.delete(child)
  if (file) tally.failedFiles.add(file)
  if (file || (code !== 0 && !tally.faults.length))
    tally.fault('a process of tests', file ?? 'test/run/worker.ts', `It ${kill} with ${code}.`)
}

function receive(report: Report, child: ChildProcess, queue: string[], tally: Tally, limit: number) {
  const { running } = tally
  if (report.type === 'test') tally.count(withinLimit(report.test, limit / 1000))
  else if (report.type === 'lacking') tally.lack(report.file, report.packages)
  else if (report.type === 'warning') tally.fault('an error outside of tests', running.get(child) ?? '', report.text)
  else if (report.type === 'stuck') {
    tally.fault('a process of tests does not end', 'test/run/worker.ts', `What keeps it running: ${report.by.join(', ')}`)
    child.kill('SIGKILL')
  } else if (report.type === 'file') {
    tally.end(report.file, report.seconds)
    running.delete(child)
  } else {
    const file = queue.shift()
    if (file) running.set(child, file)
    child.send({ file })
  }
}

/** A test that passed too late has failed. */
function withinLimit(test: TestReport, limit: number): TestReport {
  if (test.outer || test.outcome !== 'passed' || test.seconds <= limit || test.seconds - stolen.during(test.seconds) <= limit)
    return test
  return { ...test, outcome: 'failed', reason: `It took ${Math.round(test.seconds)} seconds, and the limit is ${limit}.` }
}

/** Acts when nothing was heard for some milliseconds: a hook hangs, which has no limit of its own. */
export class Watch {
  readonly #milliseconds: number
  readonly #act: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number, act: () => void) {
    this.#milliseconds = milliseconds
    this.#act = act
    this.rest()
  }

  rest() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#act, this.#milliseconds)
  }

  stop() {
    clearTimeout(this.#timer)
  }
}
