import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { command } from '#cli/convert.ts'
import { git } from '#git/git.ts'
import { systemClock } from '#platform/clock.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** A folder in which conversions run. */
export async function openConversions() {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-conversions-'))
  return {
    folder,
    out: (name: string) => join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Runs the command in this process, which is faster. */
export async function convert(...given: string[]) {
  const [output, messages]: [string[], string[]] = [[], []]
  const code = await command.run(given, {
    environment: {},
    clock: systemClock,
    print: (text) => output.push(text),
    warn: (text) => messages.push(text),
    untilInterrupted: () => new AbortController().signal,
  })
  return { code, output: output.join('\n'), messages: messages.join('\n') }
}

/** Starts `npx belfry convert` as a process. */
export function startConvert(given: string[], environment: Record<string, string> = {}) {
  const { NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'convert', ...given], {
    // Without the cache, a start takes 0.5 s of processor time instead of 0.15.
    env: { PATH: process.env.PATH ?? '', ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { child, ended: endOf(child) }
}

async function endOf(child: ChildProcess) {
  const read = async (stream: Readable | null) => Buffer.concat((await stream?.toArray()) ?? []).toString()
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, messages, code] = await Promise.all([read(child.stdout), read(child.stderr), closed])
  return { code, output, messages }
}

/** The branches and tags of a repository, with their commits. */
export const refsIn = (repository: string) => git(['-C', repository, 'for-each-ref', '--format=%(refname) %(objectname)'])

/** So many revisions of Subversion that a conversion has a checkpoint before its end. */
export const beyondCheckpoint = 1100
