import type { Belfry } from '#belfry.ts'
import { readArguments, UsageError } from '#cli/command.ts'
import { commands, describeCommands } from '#cli/commands.ts'
import { openProgress } from '#cli/progress.ts'
import { openTerminal } from '#cli/terminal.ts'
import type { DemoAccess } from '#demo/demo.ts'
import { systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'
import type { SeedAccess } from '#seed/format.ts'
import type { SeedFile } from '#seed/read-seed-file.ts'

const help = `Belfry: a self-hosted server for the activity side of a code host.

Usage: npx belfry [options]             start the server; in a checkout: npm start [-- options]
       npx belfry <command> [options]   run a command; --help after its name describes it

Commands:
${describeCommands()}

Options:
  --demo        load a year of example users, repositories and activity
  --seed FILE   load the users, repositories and activity of a YAML or JSON file, see docs/seed.md
  --help        print this text
  --version     print the version

Settings, read from the environment [default]:
`

// It is for this process alone, see bin/belfry: the threads of git would wait for each other.
delete process.env.MALLOC_ARENA_MAX

const terminal = openTerminal()
const { print } = terminal

async function main(): Promise<number> {
  const [name, ...given] = process.argv.slice(2)
  const named = commands.find((command) => command.name === name)
  if (!named) return startServer()
  const command = await named.load()
  if (given[0] !== '--help') return command.run(given, terminal)
  print(command.help)
  return 0
}

/** Returns when the server is ready. The process runs until a signal ends it. */
async function startServer(): Promise<number> {
  const options = readOptions()
  const { describeSettings, readSettings, unknownSettings } = await import('#config.ts')
  if (options.help || options.version) {
    print(options.help ? `${help}${describeSettings()}` : (await import('#start.ts')).version)
    return 0
  }
  const settings = readSettings(process.env)
  const { openLog } = await import('#platform/log.ts')
  const log = openLog(settings.BELFRY_LOG)
  for (const name of unknownSettings(process.env))
    log.warn({ name }, 'unknown setting, ignored; run npx belfry --help to list the settings')
  const seed = options.seed === undefined ? undefined : (await import('#seed/read-seed-file.ts')).readSeedFile(options.seed)
  const { start } = await import('#start.ts')
  const { startUnderSignals } = await import('#signals.ts')
  let demo: DemoAccess | null | undefined
  let seeded: SeedAccess | null | undefined
  const running = await startUnderSignals(
    (signal) =>
      start(settings, systemClock, log, signal, async (belfry) => {
        if (options.demo) demo = await loadDemo(belfry, signal)
        if (seed) seeded = await loadSeed(belfry, seed, signal)
      }),
    log,
  )
  if (!running) return 0
  const { collectWhenIdle } = await import('#platform/idle-memory.ts')
  collectWhenIdle()
  const { startScreen } = await import('#screen.ts')
  print(startScreen(running, demo, seeded))
  print(`Belfry is ready: ${running.belfry.addresses.web || 'worker only'}`)
  return 0
}

async function loadDemo(belfry: Belfry, signal: AbortSignal) {
  const demo = await import('#demo/demo.ts')
  const progress = openProgress()
  try {
    return await demo.loadDemo(belfry, { signal, onMonth: (month) => progress.show(`Loading the demo: ${month} …`) })
  } finally {
    progress.clear()
  }
}

async function loadSeed(belfry: Belfry, file: SeedFile, signal: AbortSignal) {
  const { seedOnce } = await import('#seed/seed-file.ts')
  const progress = openProgress()
  try {
    return await seedOnce(belfry, file, {
      signal,
      onProgress: (done, all) => progress.show(`Loading ${file.name} …`, done / all),
    })
  } finally {
    progress.clear()
  }
}

function readOptions() {
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = readArguments('', process.argv.slice(2), {
    demo: flag,
    seed: { type: 'string' },
    version: flag,
  })
  if (values.demo && values.seed !== undefined) throw new UsageError('--demo and --seed exclude each other', '')
  if (positionals[0]) throw new UsageError(`"${positionals[0]}" is no command of Belfry`, '')
  return values
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  terminal.warn(error.message)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
