import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Clock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'

/** A command of `npx belfry`, such as `listen`. */
export interface Command {
  /** What `--help` prints. */
  help: string
  /** Returns the exit code: 0 for success, 1 for a failure. Wrong arguments are a `UsageError`, which gives 2. */
  run(given: string[], terminal: Terminal): Promise<number>
}

/** What a command reads and writes. Standard output has results only, so that `--json` can be piped. */
export interface Terminal {
  environment: NodeJS.ProcessEnv
  clock: Clock
  print(text: string): void
  /** Messages and progress, on standard error. */
  warn(text: string): void
  /** Aborted by the first SIGINT or SIGTERM. A command that never asks for it ends at once. */
  untilInterrupted(): AbortSignal
}

/** Arguments that the command does not understand. */
export class UsageError extends StartError {
  /** `command` is empty for the start of the server. */
  constructor(message: string, command: string) {
    super(`${message}. Run npx ${['belfry', command, '--help'].filter(Boolean).join(' ')} to list the options.`)
  }
}

/** Reads the options of a command, which all have `--help`. */
export function readArguments<Options extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  given: string[],
  options: Options,
) {
  try {
    const help = { type: 'boolean', default: false } as const
    return parseArgs({ args: given, options: { ...options, help }, allowPositionals: true })
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/\.\s/)
    throw new UsageError(sentence.replace(/\.$/, ''), command)
  }
}
