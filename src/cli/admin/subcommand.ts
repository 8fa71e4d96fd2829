import type { ParseArgsConfig } from 'node:util'
import { readArguments, type Terminal, UsageError } from '#cli/command.ts'
import { openProgress, type ProgressLine } from '#cli/progress.ts'
import { Refusal, StartError } from '#platform/errors.ts'
import { codeOf, DatabaseUnavailable, explain, StorageUnavailable } from '#platform/unavailable.ts'
import { type Administration, openAdministration } from './administration.ts'

type ParseOption = NonNullable<ParseArgsConfig['options']>[string]

/** An option as parseArgs reads it, and as `--help` describes it. */
export type Option = ParseOption & { about: string; value?: string }
type Options = Record<string, Option>
export type Values<O extends Options> = ReturnType<typeof readArguments<O>>['values']

/** What a subcommand has done: data for `--json`, and text for people. `code` is the exit code, 0 unless given. */
export interface Result {
  data: unknown
  text: string
  code?: number
}

/** What runs a subcommand. */
export interface Call<O extends Options> {
  options: Values<O>
  /** The arguments, as many as `arguments` of the definition names. */
  given: string[]
  terminal: Terminal
  progress: ProgressLine
  /** Opens the database and the data folder. It is closed after the command. */
  open(): Promise<Administration>
}

interface Definition<O extends Options> {
  /** The words after `npx belfry admin`. */
  name: string
  /** Names of the arguments, with a space between; `[NAME]` may be left out. */
  arguments?: string
  summary: string
  /** Further sentences for `--help`. */
  about?: string
  options?: O
  /** Asks for `--yes`, unless a person at a terminal confirms. */
  dangerous?: (given: string[]) => string
  run(call: Call<O>): Promise<Result>
}

export interface Subcommand {
  name: string
  usage: string
  summary: string
  help: string
  run(given: string[], terminal: Terminal): Promise<number>
}

const json = { type: 'boolean', default: false, about: 'print the result as JSON' } as const
const yes = { type: 'boolean', default: false, about: 'do not ask for confirmation' } as const

export function subcommand<const O extends Options>(definition: Definition<O>): Subcommand {
  const { name, summary, arguments: args = '', dangerous } = definition
  const options: Options = { ...definition.options, ...(dangerous && { yes }), json }
  const usage = [name, args].filter(Boolean).join(' ')
  return {
    name,
    usage,
    summary,
    help: `npx belfry admin ${usage}: ${summary}.\n${definition.about ? `\n${definition.about}\n` : ''}\nOptions:\n${describeOptions(options)}`,
    async run(words, terminal) {
      const { values, positionals } = readArguments(`admin ${name}`, words, options)
      checkCount(name, args, positionals)
      const flags = values as Record<string, unknown>
      if (dangerous && !flags.yes) await confirm(dangerous(positionals))
      // An exit, and not the signal itself, also ends a database that the command has started.
      terminal.untilInterrupted().addEventListener('abort', () => process.exit(1))
      await using undo = new AsyncDisposableStack()
      const progress = openProgress()
      undo.defer(() => progress.clear())
      const open = async () => undo.use(await openAdministration(terminal.environment, terminal.clock))
      const result = await explained(() =>
        definition.run({ options: values as unknown as Values<O>, given: positionals, terminal, progress, open }),
      )
      progress.clear()
      const printed = flags.json ? JSON.stringify(result.data, null, 2) : result.text
      if (printed) terminal.print(printed)
      return result.code ?? 0
    },
  }
}

function describeOptions(options: Options) {
  const lines = Object.entries(options).map(([name, { value, about }]) => [`--${name}${value ? ` ${value}` : ''}`, about])
  const column = Math.max(...lines.map(([left = '']) => left.length)) + 3
  return lines.map(([left = '', about]) => `  ${left.padEnd(column)}${about}`).join('\n')
}

function checkCount(name: string, args: string, positionals: string[]) {
  const wanted = args.split(' ').filter(Boolean)
  const missing = wanted.slice(positionals.length).find((each) => !each.startsWith('['))
  if (missing) throw new UsageError(`${missing} is missing`, `admin ${name}`)
  const extra = positionals[wanted.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many`, `admin ${name}`)
}

async function confirm(question: string) {
  if (!process.stdin.isTTY) throw new StartError(`${question} Add --yes to do it.`)
  const { createInterface } = await import('node:readline/promises')
  using lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`${question} Type yes to go on: `)
  if (answer.trim() !== 'yes') throw new StartError('Nothing was changed.')
}

/** Refusals of verbs, a lost database and errors of the system, such as a full disk, are one line. Anything else is a bug, with its stack. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const known = explain(error)
    if (known instanceof StorageUnavailable)
      throw new StartError(`The storage of large files does not work: ${known.fault}. Run npx belfry admin doctor.`)
    if (known instanceof DatabaseUnavailable || isSystemError(known)) throw new StartError(known.message)
    if (!(error instanceof Refusal)) throw error
    const faults = error.faults?.map(({ field, code, message }) => message ?? `${field}: ${code}`).join('; ')
    throw new StartError(faults ? `${error.message}: ${faults}.` : error.message.replace(/\.?$/, '.'))
  }
}

const isSystemError = (error: unknown): error is Error => /^E[A-Z]+$/.test(codeOf(error) ?? '')

/** Reads a whole number from an option. */
export function wholeNumber(command: string, name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`, `admin ${command}`)
}

/** Reads the id of a record that an argument names, such as a hook. */
export function idIn(command: string, noun: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is no id of a ${noun}`, `admin ${command}`)
}
