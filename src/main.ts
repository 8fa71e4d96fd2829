import { parseArgs } from 'node:util'
import type { Belfry } from '#belfry.ts'
import type { DemoAccess } from '#demo/demo.ts'
import { systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'

const help = `Belfry: a self-hosted server for the activity side of a code host.

Usage: npm start [-- options]                   start the server
       npx belfry listen --hook … --forward …   receive a webhook's deliveries on this machine; see npx belfry listen --help

Options:
  --demo      load a year of example users, repositories and activity
  --help      print this text
  --version   print the version

Settings, read from the environment [default]:
`

/** Standard output has the start screen and `--help`. Logs go to standard error. */
const print = (text: string) => process.stdout.write(`${text}\n`)

async function main() {
  const [command, ...given] = process.argv.slice(2)
  if (command === 'listen') {
    const { listen } = await import('#parts/webhooks/listening/command.ts')
    return listen(given, process.env, systemClock, print, (text) => process.stderr.write(`${text}\n`))
  }
  const { values: options } = readOptions()
  const { describeSettings, readSettings, unknownSettings } = await import('#config.ts')
  if (options.help) return print(`${help}${describeSettings()}`)
  if (options.version) return print((await import('#start.ts')).version)
  const settings = readSettings(process.env)
  const { openLog } = await import('#platform/log.ts')
  const log = openLog(settings.BELFRY_LOG)
  for (const name of unknownSettings(process.env))
    log.warn({ name }, 'unknown setting, ignored; run npm start -- --help to list the settings')
  const { start } = await import('#start.ts')
  const { startUnderSignals } = await import('#signals.ts')
  let demo: DemoAccess | null | undefined
  const running = await startUnderSignals(
    (signal) =>
      start(settings, systemClock, log, signal, async (belfry) => {
        if (options.demo) demo = await loadDemo(belfry, signal)
      }),
    log,
  )
  if (!running) return
  const { startScreen } = await import('#screen.ts')
  print(startScreen(running, demo))
  print(`Belfry is ready: ${running.belfry.addresses.web || 'worker only'}`)
}

async function loadDemo(belfry: Belfry, signal: AbortSignal) {
  const demo = await import('#demo/demo.ts')
  const progress = openProgress()
  try {
    return await demo.loadDemo(belfry, { signal, onMonth: progress.show })
  } finally {
    progress.clear()
  }
}

/** One line on a terminal that says where the demo is, after the first second. */
function openProgress() {
  const { stderr } = process
  const begun = performance.now()
  let shown = ''
  const show = (month: string) => {
    if (!stderr.isTTY || month === shown || performance.now() - begun < 1000) return
    shown = month
    stderr.write(`\r\x1b[KLoading the demo: ${month} …`)
  }
  return { show, clear: () => void (shown && stderr.write('\r\x1b[K')) }
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        demo: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new StartError(
      `${(error as Error).message.split(/\.\s/)[0]?.replace(/\.$/, '')}. Run npm start -- --help to list the options.`,
    )
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
