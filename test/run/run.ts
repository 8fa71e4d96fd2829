import { spawn } from 'node:child_process'
import { availableParallelism, setPriority } from 'node:os'
import { clearEnvironment } from '../environment.ts'
import { globalSetup, globalTeardown } from '../setup.ts'
import { changedTests } from './changed.ts'
import { runWithCoverage } from './coverage.ts'
import { inOrder, keepFailed, kindOf, recordSizes, root, testFiles } from './files.ts'
import { Tally } from './tally.ts'
import { runQueue } from './test-process.ts'

/**
 * Runs lint, types and test files: without arguments the fast ones, with `--slow` the slow ones, with `--all` both, with `--changed` those of what changed, or those
 * that are named. ORDER=reverse begins with the shortest, TIMES=1 records durations, COVERAGE=1 reports which lines and branches of `src/` were run.
 */
if (process.env.COVERAGE === '1') process.exit(runWithCoverage().status ?? 1)

const [mode = '--fast', ...more] = process.argv.slice(2)
clearEnvironment()
const choices: Record<string, () => string[]> = {
  '--fast': () => testFiles().filter((file) => kindOf(file) === 'fast'),
  '--slow': () => testFiles().filter((file) => kindOf(file) === 'slow'),
  '--all': testFiles,
  '--changed': changedTests,
}
const files = choices[mode]?.() ?? [mode, ...more]
// No one looks at a hundred pictures of pages, and each takes 0.2 s.
if (mode in choices) process.env.PICTURES ??= '0'

/** Milliseconds for a test, without those that the host of a virtual machine took. A hang is a fault: on an idle machine, tests take a tenth. */
const limits = { fast: 20_000, slow: 120_000 }

const tally = new Tally(files)
// They run beside the tests; the slow tests come after the fast ones, which had them.
const checks =
  mode === '--slow' ? [] : [check('lint', 'biome', 'ci', '--error-on-warnings', '.'), check('types', 'tsc', '-p', '.')]

async function check(name: string, program: string, ...args: string[]) {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  // Tests come first: the type check would take both cores from them for their first half minute.
  if (child.pid) setPriority(child.pid, 10)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(data))
  const code = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  if (code !== 0) tally.fault(name, program, String(Buffer.concat(output)))
}

if (files.length) {
  await globalSetup()
  try {
    for (const kind of ['fast', 'slow'] as const) {
      const queue = inOrder(files.filter((file) => kindOf(file) === kind))
      // One process more than there are cores fills the times when a test waits.
      const processes = Math.min(availableParallelism() + 1, queue.length)
      await Promise.all(Array.from({ length: processes }, () => runQueue(queue, limits[kind], tally)))
    }
  } finally {
    await globalTeardown()
  }
}
await Promise.all(checks)
tally.screen.close()

if (process.env.TIMES === '1') recordSizes(tally.sizes())
keepFailed([...tally.failedFiles])
if (!files.length) tally.screen.print('No test is beside a changed file.')
tally.screen.print(tally.summary())
process.exitCode = tally.faults.length ? 1 : 0
