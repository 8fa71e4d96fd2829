import { mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../setup.ts'
import { copyCheckout, folder } from './checkout.ts'
import { chooseMutants } from './choose.ts'
import { nearTests } from './near-tests.ts'
import { lineOf, summaryOf, type Tried } from './report.ts'
import { keepSurvivors, nameOf, survivedBefore } from './survivors.ts'
import { tryMutant, unsound } from './try-mutant.ts'

const usage = `npm run mutants -- [--count N] [--seed N] [--only PATH] [--fast] [--survivors] [--list]

Puts small faults into copies of the checkout, one after the other, and runs the tests near each until one fails. Exits with 1 if less than
90 % of the faults are found.

  --count N    faults (default 60), of four kinds in turn: a negated condition, a missing check, a limit that is off by one, and a missing
               condition of an SQL statement
  --seed N     decides which (default 1)
  --only PATH  files whose path begins with this
  --fast       without slow tests
  --survivors  those of these that were not found last time
  --list       print the faults and their tests only
`

const { count, seed, only, fast, survivors, list } = parseArgs({
  options: {
    count: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'src/' },
    fast: { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
}).values
if (![count, seed].every((value) => /^\d{1,7}$/.test(value))) {
  process.stderr.write(usage)
  process.exit(2)
}
const print = (text: string) => void process.stdout.write(`${text}\n`)
const chosen = [...chooseMutants(Number(count), Number(seed), only)]
const mutants = survivors ? chosen.filter((mutant) => survivedBefore().has(nameOf(mutant))) : chosen

if (list) for (const mutant of mutants) print(lineOf({ mutant, tests: nearTests(mutant.file, fast) }))
else await tryAll()

async function tryAll() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const tried: Tried[] = []
  const queue = mutants.values()
  await globalSetup()
  try {
    await Promise.all(
      Array.from({ length: availableParallelism() }, async (_, index) => {
        const checkout = copyCheckout(String(index + 1))
        for (const mutant of queue) {
          tried.push(await tryMutant(checkout, mutant, fast))
          print(`${tried.length}/${mutants.length} ${lineOf(tried.at(-1) as Tried)}`)
        }
      }),
    )
  } finally {
    await globalTeardown()
    rmSync(folder, { recursive: true, force: true })
  }
  keepSurvivors(tried)
  print(summaryOf(tried, [...unsound]))
  process.exitCode = tried.filter(({ finding }) => finding).length >= tried.length * 0.9 ? 0 : 1
}
