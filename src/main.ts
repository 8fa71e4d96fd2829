import { parseArgs } from 'node:util'
import type { DemoAccess } from '#demo/demo.ts'
import { systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'
import type { Running } from '#start.ts'

const help = `Belfry: the activity side of a code host.

Usage: npm start [-- options]
       npx belfry listen --hook … --forward …   repeat a webhook's deliveries on this machine; see npx belfry listen --help

Options:
  --demo      also load people, an organization and repositories to try things on
  --help      this text
  --version   the version

Settings, from the environment [default]:
`

/** Standard output is for what a person asked to see; everything else is logged. */
const say = (text: string) => process.stdout.write(`${text}\n`)

async function main() {
  const [command, ...given] = process.argv.slice(2)
  if (command === 'listen') {
    const { listen } = await import('#parts/webhooks/listening/command.ts')
    return listen(given, process.env, systemClock, say, (text) => process.stderr.write(`${text}\n`))
  }
  const { values: options } = readOptions()
  const { describeSettings, readSettings, unknownSettings } = await import('#config.ts')
  if (options.help) return say(`${help}${describeSettings()}`)
  if (options.version) return say((await import('#start.ts')).version)
  const settings = readSettings(process.env)
  const { openLog } = await import('#platform/log.ts')
  const log = openLog(settings.BELFRY_LOG)
  for (const name of unknownSettings(process.env)) log.warn({ name }, 'there is no such setting; see --help')
  const { start } = await import('#start.ts')
  const { startUnderSignals } = await import('#signals.ts')
  let demo: DemoAccess | null | undefined
  const running = await startUnderSignals(async (asked) => {
    const started = await start(settings, systemClock, log, asked)
    if (options.demo) demo = await loadDemo(started)
    return started
  }, log)
  if (!running) return
  const { startScreen } = await import('#screen.ts')
  say(startScreen(running, demo))
  say(`Belfry is ready: ${running.belfry.addresses.web || 'it works on jobs, and answers no requests'}`)
}

async function loadDemo(running: Running) {
  const demo = await import('#demo/demo.ts')
  try {
    return await demo.loadDemo(running.belfry)
  } catch (error) {
    await running.stop()
    throw error
  }
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
    throw new StartError(`${(error as Error).message.split(/\.\s/)[0]?.replace(/\.$/, '')}. See npm start -- --help.`)
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
