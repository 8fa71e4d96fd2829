import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runChaos } from './chaos.ts'
import { faults } from './faults.ts'
import { isClean, table } from './report.ts'

const usage = `npm run chaos -- [--rounds N] [--seconds N] [--fault NAME]... [--seed N] [--json]

Runs three nodes and a PostgreSQL with a synchronous standby under load, breaks something in each round, and compares everything that was
acknowledged with what is there. Writes test-output/chaos.json. Exits with 1 if anything is lost, doubled, exposed or wrong.

  --rounds N    rounds of each fault (default 1)
  --seconds N   how long the load runs in a round, from 4 to 600 (default 20)
  --fault NAME  only this fault; may be repeated
  --seed N      decides the order of the rounds and which node is hit (default: the time)
  --json        print the report as JSON

Faults:
${faults.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join('\n')}`

const output = join(import.meta.dirname, '..', '..', 'test-output')

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') return print(options === '' ? usage : `${options}\n\n${usage}`, options === '' ? 0 : 2)
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (!interrupted.signal.aborted) process.stderr.write('Stopping all processes …\n')
      interrupted.abort()
    })
  const { json, ...given } = options
  process.stderr.write(`Seed ${given.seed}\n`)
  try {
    const report = await runChaos({
      ...given,
      nodes: 3,
      signal: interrupted.signal,
      say: (text) => void process.stderr.write(`${text}\n`),
    })
    mkdirSync(output, { recursive: true })
    writeFileSync(join(output, 'chaos.json'), `${JSON.stringify(report, undefined, 2)}\n`)
    return print(json ? JSON.stringify(report, undefined, 2) : table(report, faults), isClean(report) ? 0 : 1)
  } catch (error) {
    if (interrupted.signal.aborted) return 130
    throw error
  }
}

function readOptions(given: string[]) {
  try {
    const { values } = parseArgs({
      args: given,
      options: {
        rounds: { type: 'string', default: '1' },
        seconds: { type: 'string', default: '20' },
        fault: { type: 'string', multiple: true },
        seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return ''
    const unknown = values.fault?.find((name) => !faults.some((fault) => fault.name === name))
    if (unknown !== undefined) return `There is no fault ${unknown}.`
    const whole = (name: 'rounds' | 'seconds' | 'seed', least: number, most: number) => {
      const number = Number(values[name])
      if (Number.isInteger(number) && number >= least && number <= most) return number
      throw new Error(`--${name} must be a whole number from ${least} to ${most}.`)
    }
    return {
      rounds: whole('rounds', 1, 1000),
      seconds: whole('seconds', 4, 600),
      seed: whole('seed', 0, 2 ** 31),
      faults: faults.filter(({ name }) => !values.fault || values.fault.includes(name)),
      json: values.json,
    }
  } catch (error) {
    return (error as Error).message
  }
}

function print(text: string, status: number): number {
  const stream = status === 2 ? process.stderr : process.stdout
  stream.write(`${text}\n`)
  return status
}

// Nothing that is left, such as a connection that was given up on, may keep this process.
process.exit(await main())
