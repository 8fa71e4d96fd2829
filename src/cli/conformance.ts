import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checks } from '#conformance/checks.ts'
import { isLoopback } from '#conformance/client.ts'
import { Receiver } from '#conformance/receiver.ts'
import { countOutcomes, isGood, type Report } from '#conformance/report.ts'
import { type Result, runChecks } from '#conformance/run.ts'
import { findTarget, type Target } from '#conformance/target.ts'
import { StartError } from '#platform/errors.ts'
import type { Command, Terminal } from './command.ts'
import { reportPage } from './conformance-html.ts'
import { help, type Options, readOptions } from './conformance-options.ts'
import { describeChecks, describeReport } from './conformance-report.ts'
import { openProgress } from './progress.ts'

const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')).version

/** Milliseconds that one check may take. */
const patience = 90_000
/** The expiry of a code takes ten of these minutes. */
const slowPatience = 12 * 60_000

export const command: Command = {
  help,
  async run(given, terminal) {
    const options = readOptions(given, terminal.environment)
    const chosen = checks.filter(
      ({ id, operation }) => options.only.length === 0 || options.only.some((pattern) => `${id} ${operation}`.includes(pattern)),
    )
    if (options.list) {
      terminal.print(options.json === undefined ? describeChecks(chosen) : JSON.stringify(chosen, undefined, 2))
      return 0
    }
    const report = await check(chosen, options, terminal)
    if (options.html !== undefined) await write(options.html, reportPage(report))
    if (options.json === '-') terminal.print(JSON.stringify(report, undefined, 2))
    else {
      if (options.json !== undefined) await write(options.json, `${JSON.stringify(report, undefined, 2)}\n`)
      terminal.print(describeReport(report))
    }
    return isGood(report) ? 0 : 1
  },
}

/** One server after the other, because both may be the same one. */
async function check(chosen: typeof checks, options: Options, { clock, untilInterrupted }: Terminal): Promise<Report> {
  const signal = untilInterrupted()
  const date = clock.now().toISOString()
  const targets: Target[] = []
  for (const url of options.urls) targets.push(await findTarget({ ...options.target, url }, signal))
  const started = performance.now()
  let overdue = false
  const results: Result[] = []
  const left: string[] = []
  for (const target of targets) {
    const receiver = await openReceiver(options.receiver, target)
    const progress = openProgress()
    let done = 0
    try {
      const run = await runChecks(chosen, target, receiver, {
        concurrency: options.concurrency,
        patience,
        slow_patience: options.slow ? slowPatience : 0,
        limit: options.limit,
        signal,
        onResult: ({ id }) => progress.show(`${++done} of ${chosen.length}: ${id}`, done / chosen.length),
      })
      results.push(...run.results)
      left.push(...run.left)
      overdue ||= run.overdue
    } finally {
      progress.clear()
      if (typeof receiver !== 'string') receiver.close()
    }
  }
  const servers = targets.map(({ base, web, variant, login }) => ({ url: base, web, variant, login }))
  const milliseconds = Math.round(performance.now() - started)
  const ended = { interrupted: signal.aborted, overdue, summary: countOutcomes(results) }
  return { belfry: version, date, milliseconds, servers, ...ended, results, left }
}

/** The receiver, or the reason why there is none. */
async function openReceiver(given: Options['receiver'], { base }: Target): Promise<Receiver | string> {
  if (given === null) return 'Deliveries are not checked: --receiver is none.'
  if (given === undefined && !isLoopback(new URL(base)))
    return 'The server is not on this machine: give --receiver to check deliveries.'
  const { host, port } = given ?? { host: '127.0.0.1', port: 0 }
  try {
    return await Receiver.open(host, port)
  } catch (error) {
    throw new StartError(`The receiver cannot listen on ${host}:${port}: ${(error as Error).message}.`)
  }
}

async function write(path: string, text: string) {
  await writeFile(path, text).catch((error: Error) => {
    throw new StartError(`The report cannot be written: ${error.message}.`)
  })
}
