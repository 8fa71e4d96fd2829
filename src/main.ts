import { enableCompileCache } from 'node:module'
import { parseArgs } from 'node:util'
import { systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'

// Stripping types and compiling are done once, not at every start.
enableCompileCache()

const help = `Belfry: the activity side of a code host.

Usage: npm start [-- options]

Options:
  --demo      also load people, an organization and repositories to try things on
  --help      this text
  --version   the version

Settings, from the environment [default]:
`

/** Standard output is for what a person asked to see; everything else is logged. */
const say = (text: string) => process.stdout.write(`${text}\n`)

async function main() {
  const { values: options } = readOptions()
  const { describeSettings, readSettings, unknownSettings } = await import('#config.ts')
  if (options.help) return say(`${help}${describeSettings()}`)
  const { start, version } = await import('#start.ts')
  if (options.version) return say(version)
  const { stopOnSignals } = await import('#signals.ts')
  const { openLog } = await import('#platform/log.ts')
  const settings = readSettings(process.env)
  const log = openLog(settings.BELFRY_LOG)
  for (const name of unknownSettings(process.env)) log.warn({ name }, 'there is no such setting; see --help')
  const starting = start(settings, systemClock, log)
  stopOnSignals(starting, log)
  const running = await starting
  const demo = options.demo ? await (await import('#demo.ts')).loadDemo(running.belfry) : undefined
  const { startScreen } = await import('#screen.ts')
  say(startScreen(running, demo))
  if (running.belfry.addresses.web) say(`Belfry is ready: ${running.belfry.addresses.web}`)
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
    throw new StartError(`${(error as Error).message.split('.')[0]}. See npm start -- --help.`)
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
