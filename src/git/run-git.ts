import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '#platform/errors.ts'
import { endedBySignal } from './errors.ts'
import { startGit } from './git.ts'
import { takeRequestSlot } from './slots.ts'

export interface Bounds {
  /** Ends git when aborted. The call then rejects with the signal's reason. */
  signal: AbortSignal
  input?: string | AsyncIterable<Buffer>
  settings?: Record<string, string>
  /** Exit codes that are not errors. */
  expected?: number[]
  /** Gets the text of standard error as it arrives. */
  onText?: (text: string) => void
  /** Whether git has its own process group, so that a signal to ours does not reach it. */
  detached?: boolean
}

/** The objects that a git process reads, and until when. */
export interface Reading {
  path: string
  signal: AbortSignal
  /** For objects of another repository, see `readingOf`. */
  settings: Record<string, string>
}

/** Runs work with a time limit, for work whose time depends on what users push. */
export async function within<T>(milliseconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(milliseconds)
  try {
    return await work(signal)
  } catch (error) {
    throw signal.aborted ? new Refusal('invalid', 'This takes too long with so much history or so many changes.') : error
  }
}

/** Runs git on a repository. Returns its exit code and about the first `limit` bytes of its output; more is dropped, or with `whole` an error. */
export async function runGit(
  path: string,
  args: string[],
  { limit = 1 << 24, whole = false, ...bounds }: Bounds & { limit?: number; whole?: boolean },
) {
  const output: Buffer[] = []
  const status = { code: 0 }
  let printed = 0
  for await (const chunk of streamGit(path, args, bounds, status)) {
    output.push(chunk)
    printed += chunk.length
    if (printed <= limit) continue
    if (whole) throw new Refusal('invalid', 'This is more than can be read from a repository at once.')
    break
  }
  return { status: status.code, output: Buffer.concat(output) }
}

/** Yields git's output as it arrives. To stop reading ends git. */
export async function* streamGit(
  path: string,
  args: string[],
  { signal, input = '', settings = {}, expected = [0], onText, detached = true }: Bounds,
  status = { code: 0 },
): AsyncGenerator<Buffer, void, void> {
  signal.throwIfAborted()
  using _ = await takeRequestSlot()
  const { stdin, stdout, stderr, closed, kill } = await startGit(['-C', path, ...args], settings, detached)
  const end = () => kill()
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  let complaint = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000)
    onText?.(text)
  })
  // A git that ended early closes its input, and one whose input breaks off fails. The exit code shows both.
  if (typeof input === 'string') stdin.end(input)
  else pipeline(Readable.from(input), stdin).catch(() => {})
  try {
    for await (const chunk of stdout) yield chunk
    const exit = await closed
    signal.throwIfAborted()
    if (exit.status === null) throw endedBySignal()
    if (!expected.includes(exit.status)) throw new Error(`git ${args[0]} failed (${exit.status}): ${complaint.trim()}`)
    status.code = exit.status
  } finally {
    signal.removeEventListener('abort', end)
    end()
    await closed
  }
}

/**
 * A stream of git's output. It has begun when this resolves, so that a failure before that is an error of the request. `ending` ends git as
 * soon as the stream is closed, and not at its next output.
 */
export async function openOutput(chunks: AsyncGenerator<Buffer, void, void>, ending?: AbortController): Promise<Readable> {
  const first = await chunks.next()
  const output = new Readable({
    read() {
      chunks.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error) => this.destroy(error),
      )
    },
    // Ends git, and releases its slot, even if nobody has read the stream.
    destroy(error, done) {
      ending?.abort()
      chunks.return().then(
        () => done(error),
        () => done(error),
      )
    },
  })
  output.push(first.done ? null : first.value)
  return output
}

/**
 * Splits a stream at a byte, yielding many pieces at a time. Pieces longer than `longest` are cut. Other requests are served between two chunks:
 * Node reads up to 2 MB from a pipe in one turn of its loop, and a diff of so many short lines blocked it for half a second.
 */
export async function* split(chunks: AsyncIterable<Buffer>, byte: number, longest: number): AsyncGenerator<Buffer[], void, void> {
  let open: Buffer[] = []
  let kept = 0
  const keep = (part: Buffer) => {
    if (!part.length || kept >= longest) return
    open.push(part.subarray(0, longest - kept))
    kept += part.length
  }
  for await (const chunk of chunks) {
    const pieces: Buffer[] = []
    let from = 0
    for (let at = chunk.indexOf(byte); at >= 0; at = chunk.indexOf(byte, from)) {
      keep(chunk.subarray(from, at))
      pieces.push(Buffer.concat(open))
      open = []
      kept = 0
      from = at + 1
    }
    keep(chunk.subarray(from))
    if (pieces.length) yield pieces
    await nextTurn()
  }
  if (open.length) yield [Buffer.concat(open)]
}
