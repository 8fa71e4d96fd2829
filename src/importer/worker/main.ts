import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { type Author, ImportFailure } from '#importer/source.ts'
import type { Order, WorkerMessage, WorkerProgress } from '#importer/steps.ts'
import { describeFailure } from './describe-failure.ts'

/** The program of a worker process. It reads orders from standard input and writes messages to standard output. */
const lines = createInterface({ input: process.stdin })
// The runner has ended, or ends this worker: no child process may survive.
lines.once('close', endAll)

const stopping = new AbortController()
let busy = false
process.once('SIGTERM', () => {
  stopping.abort(new Error('the import was stopped'))
  if (!busy) process.exit()
})

const reporter = openProgressReporter((outgoing) => process.stdout.write(`${JSON.stringify(outgoing)}\n`))
lines.on('line', async (line) => {
  busy = true
  const last = await runOrder(JSON.parse(line))
  reporter.flush()
  await new Promise((written) => process.stdout.write(`${JSON.stringify(last)}\n`, written))
  busy = false
  if (stopping.signal.aborted) process.exit()
})

async function runOrder(order: Order): Promise<WorkerMessage> {
  try {
    const { runStep } = await import('#importer/convert.ts')
    return { result: await runStep(order, { signal: stopping.signal, onProgress: reporter.onProgress }) }
  } catch (error) {
    if (!(error instanceof ImportFailure)) process.stderr.write(`${inspect(error)}\n`)
    return { failure: describeFailure(error) }
  }
}

function endAll() {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    // Started by hand, so it leads no process group.
    process.exit(1)
  }
}

/** In milliseconds, because the runner writes each message to the database. */
const interval = 100

/** Combines progress reports that follow each other quickly. */
function openProgressReporter(send: (outgoing: WorkerMessage) => void) {
  let pending: WorkerProgress | undefined
  let authors: Author[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (!pending) return
    send({ progress: { ...pending, ...(authors.length > 0 && { authors }) } })
    pending = undefined
    authors = []
  }
  return {
    onProgress(progress: WorkerProgress) {
      authors = authors.concat(progress.authors ?? [])
      pending = { ...pending, ...progress }
      timer ??= setTimeout(flush, interval).unref()
    },
    flush,
  }
}
