import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checks } from '#conformance/checks.ts'
import { Receiver } from '#conformance/receiver.ts'
import { countOutcomes, type Report } from '#conformance/report.ts'
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
    return report.summary.failed > 0 || report.left.length > 0 || report.interrupted ? 1 : 0
  },
}

/** One server after the other, because both may be the same one. */
async function check(chosen: typeof checks, options: Options, { clock, untilInterrupted }: Terminal): Promise<Report> {
  const signal = untilInterrupted()
  const date = clock.now().toISOString()
  const targets: Target[] = []
  for (const url of options.urls) targets.push(await findTarget({ ...options.target, url }, signal))
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
        signal,
        onResult: ({ id }) => progress.show(`${++done} of ${chosen.length}: ${id}`, done / chosen.length),
      })
      results.push(...run.results)
      left.push(...run.left)
    } finally {
      progress.clear()
      if (typeof receiver !== 'string') receiver.close()
    }
  }
  const servers = targets.map(({ base, variant, login }) => ({ url: base, variant, login }))
  return { belfry: version, date, servers, interrupted: signal.aborted, summary: countOutcomes(results), results, left }
}

/** The receiver, or the reason why there is none. */
async function openReceiver(given: Options['receiver'], { base }: Target): Promise<Receiver | string> {
  if (given === null) return 'Deliveries are not checked: --receiver is none.'
  const here = /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(base).hostname)
  if (given === undefined && !here) return 'The server is not on this machine: give --receiver to check deliveries.'
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
