import { fstatSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { StartError } from '#platform/errors.ts'
import { collectWhenIdle } from '#platform/idle-memory.ts'
import { type LogLevel, logLevels, openLog } from '#platform/log.ts'
import { identityOf } from '#platform/processes.ts'
import type { Seed } from '#seed/format.ts'
import type { Cluster } from '#testing/server/cluster.ts'
import { type Command, readArguments, UsageError } from './command.ts'

const help = `Start a Belfry for automated tests, on an empty database in a temporary folder.

Usage: npx belfry test-server [options]

Prints one line of JSON when it is ready: url, versioned_url, admin_token, users, and control, the base address of the control API
(reset, clock, requests, deliveries, faults, worlds: see docs/testing.md). Ends with its standard input, if that is a pipe, with the process
of --parent, or by a signal.

Options:
  --seed FILE          what it contains, as YAML or JSON, see docs/seed.md; - reads JSON from the first line of standard input
  --port N             port of the pages, git and the self-hosted API; a free one unless given
  --versioned-port N   port of the versioned API; a free one unless given
  --clock DATE         let time stand still at this moment, such as 2026-06-01T00:00:00Z, until a test moves it
  --setting NAME=VALUE a setting of Belfry, such as BELFRY_RATE_LIMIT=on; may be repeated; the environment is not read
  --parent PID         end when this process is gone, such as $$ in a shell script
  --log LEVEL          lowest level that is logged to standard error [error]
  --help               print this text`

export const command: Command = {
  help,
  async run(given, { print, warn, untilInterrupted }) {
    const { log: level, seed: given_seed, parent, ...options } = readOptions(given)
    const stopped = untilInterrupted()
    const input = openInput()
    const over = Promise.race([
      input.ended,
      new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve())),
      ...(parent === undefined ? [] : [untilGone(parent)]),
    ])
    const log = openLog(level)
    let opening: Promise<Cluster> | undefined
    try {
      // Before anything is started, so that a mistake is reported at once.
      const seed = given_seed === undefined ? {} : { seed: await readSeed(given_seed, input.firstLine) }
      // PostgreSQL starts while the program is loaded, which takes half of the time.
      const { Cluster } = await import('#testing/server/cluster.ts')
      opening = Cluster.open(log)
      const { TestServer } = await import('#testing/server/test-server.ts')
      const started = TestServer.open(await opening, log, { ...options, ...seed })
      const server = await Promise.race([started, over])
      if (server) {
        print(JSON.stringify(server.access))
        collectWhenIdle()
        await Promise.race([over, server.died])
      }
      log.level = 'silent'
      await (await started.catch(() => undefined))?.close()
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      warn(error.message)
      process.exitCode = 1
    } finally {
      const cluster = await opening?.catch(() => undefined)
      await cluster?.[Symbol.asyncDispose]()
    }
    // Requests and jobs may still wait for the database that is gone.
    process.exit()
  },
}

async function readSeed(given: string, firstLine: Promise<string>): Promise<Seed> {
  if (given === '-') return readSeedLine(firstLine)
  const { readSeedFile } = await import('#seed/read-seed-file.ts')
  return readSeedFile(given).seed
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
    parent: text,
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
    ...(values.parent !== undefined && { parent: readProcess(values.parent) }),
  }
}

const wrong = (message: string) => new UsageError(message, 'test-server')

function readPort(text: string) {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw wrong(`"${text}" is no port`)
  return Number(text)
}

function readProcess(text: string) {
  const parent = /^\d{1,9}$/.test(text) ? identityOf(Number(text)) : undefined
  if (!parent) throw wrong(`--parent is "${text}", which is no running process`)
  return parent
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

/** Resolves when a process has ended. */
function untilGone(parent: string) {
  return new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (identityOf(parseInt(parent, 10)) === parent) return
      clearInterval(timer)
      resolve()
    }, 250)
  })
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
