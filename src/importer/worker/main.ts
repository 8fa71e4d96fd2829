import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { ImportFailure } from '#importer/source.ts'
import type { Order, WorkerMessage } from '#importer/steps.ts'
import { openProgressReporter } from './progress-reporter.ts'

/** The program of a worker process: orders from standard input, one after the other, and what came of each to standard output. */
const lines = createInterface({ input: process.stdin })
// Whoever gave the orders is gone, or wants no more of it: nothing that was started here outlives that.
lines.once('close', endAll)

const stopping = new AbortController()
let busy = false
process.once('SIGTERM', () => {
  stopping.abort(new Error('the import was stopped'))
  if (!busy) process.exit()
})

const message =
  'Something went wrong on our side. Restart the import; if that does not help, whoever runs this server finds more in its log.'
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
    if (error instanceof ImportFailure) return { failure: { kind: error.kind, message: error.message } }
    // Details are for whoever runs the server: they may name files and addresses.
    process.stderr.write(`${inspect(error)}\n`)
    return { failure: { kind: 'fault', message } }
  }
}

function endAll() {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    // It leads no group: it was started by hand.
    process.exit(1)
  }
}
