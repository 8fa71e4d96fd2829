import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dropDatabasesOf } from '../databases.ts'
import type { Report } from '../run/messages.ts'
import { startWorker, Watch } from '../run/test-process.ts'
import { folder } from './checkout.ts'

/** What found a fault. */
export interface Finding {
  file: string
  /** None if the process ended, or hung outside of tests. */
  test?: string
}

/** Milliseconds for a test: longer than in other runs, because other faults are tried at the same time. */
const limit = 60_000

export interface Bounds {
  /** The name of one test. */
  only?: string | undefined
  /** A moment of `performance.now()` after which no further file is run. */
  until?: number
}

/** Runs test files of a checkout in one process until the first test fails. */
export async function tryTests(
  checkout: string,
  files: string[],
  { only, until = Infinity }: Bounds,
): Promise<Finding | undefined> {
  const queue = [...files]
  let current = ''
  let finding: Finding | undefined
  const temporary = mkdtempSync(join(tmpdir(), 'mutant-'))
  const child = startWorker(checkout, limit, {
    // A group of its own ends with all that it has started.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: join(folder, 'cache') },
    ...(only === undefined ? {} : { execArgv: [`--test-name-pattern=^${only.replaceAll(/\W/g, '.')}$`] }),
  })
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // All of it has ended.
    }
  }
  const find = (found: Finding) => {
    finding ??= found
    end()
  }
  const watch = new Watch(limit * 2, () => find({ file: current }))
  child.on('message', (report: Report) => {
    watch.rest()
    if (report.type === 'test' && report.test.outcome === 'failed') {
      const { file, name } = report.test
      // A suite of test/run/worker.ts has the name of its file.
      find(name.endsWith('.test.ts') ? { file: name } : { file, test: name })
    } else if (report.type === 'warning' || report.type === 'stuck') find({ file: current })
    else if (report.type === 'idle') {
      const file = performance.now() < until ? queue.shift() : undefined
      current = file ?? current
      child.send(file ? { file } : {})
    }
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  watch.stop()
  end()
  await dropDatabasesOf(child.pid ?? 0)
  rmSync(temporary, { recursive: true, force: true })
  return finding ?? (code === 0 ? undefined : { file: current })
}
