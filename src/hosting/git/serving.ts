import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { pipeline, type Readable, Transform } from 'node:stream'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { endGit, startGit } from './git.ts'

export type ServiceName = 'upload-pack' | 'receive-pack'

const settings = {
  'upload-pack': ['uploadpack.allowFilter=true', 'transfer.hideRefs=refs/import'],
  'receive-pack': [
    // Housekeeping is a job of its own, so that no push waits for it.
    'receive.autogc=false',
    'receive.fsckObjects=true',
    // Old and harmless faults that many histories have.
    'receive.fsck.zeroPaddedFilemode=ignore',
    'receive.fsck.badTimezone=ignore',
    'receive.fsck.missingSpaceBeforeDate=ignore',
    'receive.hideRefs=refs/pull',
    'transfer.hideRefs=refs/import',
    'core.logAllRefUpdates=false',
  ],
}

/** Git's side of one request. */
export interface Service {
  output: Readable
  /** Its exit code once it is over and all is read; null when a signal ended it, or it could not be started. */
  closed: Promise<number | null>
  /** The end of what it complained about. */
  complaint(): string
  /** Hands it the request: what was read of it already, and the rest as it comes. */
  feed(read: Buffer[], body: Readable): void
  /** Whether it says anything, or ends well without: what it could not understand leaves it speechless. */
  answers(): Promise<boolean>
  end(): void
}

export function openService(
  name: ServiceName,
  path: string,
  options: { advertise?: boolean; protocol?: string | undefined },
): Service {
  const mode = ['--stateless-rpc', ...(options.advertise ? ['--http-backend-info-refs'] : [])]
  const child = startGit(
    [...settings[name].flatMap((setting) => ['-c', setting]), name, ...mode, path],
    options.protocol ? { GIT_PROTOCOL: options.protocol } : {},
  )
  const closed = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
    child.once('error', () => resolve(null))
  })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000)
  })
  // A git that ended early closes its input; its exit code tells the story.
  child.stdin.on('error', () => {})
  return {
    output: child.stdout,
    closed,
    complaint: () => complaint,
    feed: (read, body) => feed(child, read, body),
    async answers() {
      await Promise.race([once(child.stdout, 'readable').catch(() => {}), closed])
      if (child.stdout.readableLength > 0) return true
      child.stdout.resume()
      return (await closed) === 0
    },
    end: () => endGit(child),
  }
}

function feed(child: ChildProcessWithoutNullStreams, read: Buffer[], body: Readable) {
  // A body that is cut off never looks complete: its end is not passed on, and whoever noticed ends the child.
  body.on('error', () => endGit(child))
  for (const chunk of read) child.stdin.write(chunk)
  // What git does not want any more is still read, or the client would not come to read the answer.
  child.stdin.once('close', () => body.resume())
  body.pipe(child.stdin)
}

/**
 * Passes a stream on, but for its last piece, which waits until `done`. If that fails because the database is away, git is told so in its place; else
 * the stream breaks off.
 */
export function holdLast(output: Readable, done: Promise<void>): Readable {
  let held: Buffer | undefined
  const gate = new Transform({
    transform(chunk: Buffer, _, next) {
      const ready = held
      held = chunk
      next(null, ready)
    },
    flush(next) {
      done.then(
        () => next(null, held),
        (error) => (error instanceof DatabaseUnavailable ? next(null, fatal(notRecorded)) : next(error)),
      )
    },
  })
  return pipeline(output, gate, () => {})
}

const notRecorded =
  'The database is not reachable at the moment: the push has arrived, but is not recorded yet. Push again in a few seconds.'

/** An error as git shows it and fails by: a packet on the third band of the answer to a push. */
function fatal(message: string) {
  const packet = `\x03${message}\n`
  return Buffer.from(`${(packet.length + 4).toString(16).padStart(4, '0')}${packet}0000`)
}
