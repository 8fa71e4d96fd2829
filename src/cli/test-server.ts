import { fstatSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { StartError } from '#platform/errors.ts'
import { collectWhenIdle } from '#platform/idle-memory.ts'
import { type LogLevel, logLevels, openLog } from '#platform/log.ts'
import { type Command, readArguments, UsageError } from './command.ts'

const help = `Start a Belfry for automated tests, on an empty database in a temporary folder.

Usage: npx belfry test-server [options]

Prints one line of JSON when it is ready: url, versioned_url, admin_token, users, and control, the base address of the control API
(reset, clock, requests, deliveries, faults, worlds: see docs/testing.md). Ends with its standard input, if that is a pipe, or by a signal.

Options:
  --seed FILE          what it contains, as YAML or JSON, see docs/seed.md; - reads JSON from the first line of standard input
  --port N             port of the pages, git and the self-hosted API; a free one unless given
  --versioned-port N   port of the versioned API; a free one unless given
  --clock DATE         let time stand still at this moment, such as 2026-06-01T00:00:00Z, until a test moves it
  --setting NAME=VALUE a setting of Belfry, such as BELFRY_RATE_LIMIT=on; may be repeated; the environment is not read
  --log LEVEL          lowest level that is logged to standard error [error]
  --help               print this text`

export const command: Command = {
  help,
  async run(given, { print, warn, untilInterrupted }) {
    const { log: level, ...options } = readOptions(given)
    const stopped = untilInterrupted()
    const input = openInput()
    const over = Promise.race([input.ended, new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()))])
    const log = openLog(level)
    // PostgreSQL starts while the program is loaded, which takes half of the time.
    const { Cluster } = await import('#testing/server/cluster.ts')
    const opening = Cluster.open(log)
    try {
      const { TestServer } = await import('#testing/server/test-server.ts')
      const seed = options.seed === '-' ? await readSeedLine(input.firstLine) : options.seed
      const server = await TestServer.open(await opening, log, { ...options, ...(seed !== undefined && { seed }) })
      print(JSON.stringify(server.access))
      collectWhenIdle()
      await Promise.race([over, server.died])
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      warn(error.message)
      process.exitCode = 1
    } finally {
      const cluster = await opening.catch(() => undefined)
      await cluster?.[Symbol.asyncDispose]()
    }
    // Requests and jobs may still wait for the database that is gone.
    process.exit()
  },
}

async function readSeedLine(line: Promise<string>) {
  const { checkSeed } = await import('#seed/check.ts')
  try {
    return checkSeed(JSON.parse(await line))
  } catch (error) {
    throw error instanceof SyntaxError
      ? new StartError(`The seed in the first line of standard input is no JSON: ${error.message}`)
      : error
  }
}

function readOptions(given: string[]) {
  const text = { type: 'string' } as const
  const { values, positionals } = readArguments('test-server', given, {
    port: { ...text, default: '0' },
    'versioned-port': { ...text, default: '0' },
    seed: text,
    clock: text,
    setting: { ...text, multiple: true, default: [] },
    log: { ...text, default: 'error' },
  })
  if (positionals[0]) throw wrong(`"${positionals[0]}" is no option of test-server`)
  const ports = { web: readPort(values.port), versioned: readPort(values['versioned-port']) }
  if (ports.web && ports.web === ports.versioned) throw wrong('--port and --versioned-port are the same. Give two ports')
  return {
    ports,
    settings: Object.fromEntries(values.setting.map(readSetting)),
    log: readLevel(values.log),
    ...(values.seed !== undefined && { seed: values.seed }),
    ...(values.clock !== undefined && { clock: values.clock }),
  }
}

const wrong = (message: string) => new UsageError(message, 'test-server')

function readPort(text: string) {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw wrong(`"${text}" is no port`)
  return Number(text)
}

function readSetting(text: string): [name: string, value: string] {
  const mark = text.indexOf('=')
  if (mark < 1) throw wrong(`"${text}" is no setting. Write NAME=VALUE`)
  return [text.slice(0, mark), text.slice(mark + 1)]
}

function readLevel(text: string): LogLevel {
  const level = logLevels.find((name) => name === text)
  if (!level) throw wrong(`"${text}" is no level of the log. Known are ${logLevels.join(', ')}`)
  return level
}

/** A shell gives a command in the background an input that ends at once, which must not end the server. */
function openInput() {
  const [line, end] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
  const kind = fstatSync(0)
  createInterface({ input: process.stdin })
    .once('line', line.resolve)
    .once('close', () => {
      line.resolve('')
      if (kind.isFIFO() || kind.isSocket()) end.resolve()
    })
  return { firstLine: line.promise, ended: end.promise }
}
