import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline, type Readable, Transform } from 'node:stream'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { describeSpawnError } from './errors.ts'
import { tolerantSettings } from './fsck-faults.ts'
import { endGit, startGit } from './git.ts'
import type { GitLimits } from './limits.ts'
import { hiddenRefs } from './objects.ts'

export type ServiceName = 'upload-pack' | 'receive-pack'

const hidden = hiddenRefs.map((folder) => `transfer.hideRefs=${folder}`)

const settings = {
  'upload-pack': ['uploadpack.allowFilter=true', ...hidden],
  'receive-pack': [
    // Housekeeping is a job of its own, so that no push waits for it.
    'receive.autogc=false',
    'receive.fsckObjects=true',
    ...tolerantSettings,
    'receive.hideRefs=refs/pull',
    ...hidden,
    'core.logAllRefUpdates=false',
  ],
}

/** Our own scripts. They are outside the repositories, and a push cannot add one, because commits contain no hooks. */
const hooks = join(import.meta.dirname, 'hooks')

/** An operator may have put hooks into a repository: these run too. Without them, git starts no extra process for each ref. */
const hooksFor = (path: string) => join(hooks, existsSync(join(path, 'hooks')) ? 'chained' : 'ours')

/** Limit of one allocation by git, in bytes: git unpacks objects, and tables of a large pack, in memory before our check sees their size. */
const largestAllocation = 1 << 30

function limitsFor(name: ServiceName, path: string, limits: GitLimits) {
  if (name === 'upload-pack') return { configured: [], environment: {} }
  return {
    configured: [`receive.maxInputSize=${limits.push}`, `core.hooksPath=${hooksFor(path)}`],
    environment: {
      BELFRY_LARGEST_OBJECT: `${limits.object}`,
      GIT_ALLOC_LIMIT: `${Math.max(largestAllocation, limits.object)}`,
    },
  }
}

/** Git's side of one request. */
export interface Service {
  output: Readable
  /** Its exit code once it is over and all is read; null when a signal ended it, or it could not be started. */
  closed: Promise<number | null>
  /** Whether a signal ended it that we did not send. */
  wasKilled(): Promise<boolean>
  /** The end of what it complained about. */
  complaint(): string
  /** Hands it the request: what was read of it already, and the rest as it comes; more than `longest` bytes end it. */
  feed(read: Buffer[], body: Readable, longest?: number): void
  /** Whether it says anything, or ends well without: what it could not understand leaves it speechless. */
  answers(): Promise<boolean>
  end(): void
}

export async function openService(
  name: ServiceName,
  path: string,
  options: { advertise?: boolean; protocol?: string | undefined; limits: GitLimits },
): Promise<Service> {
  const { configured, environment } = limitsFor(name, path, options.limits)
  const mode = ['--stateless-rpc', ...(options.advertise ? ['--http-backend-info-refs'] : [])]
  const child = startGit([...settings[name], ...configured].flatMap((setting) => ['-c', setting]).concat(name, ...mode, path), {
    ...environment,
    ...(options.protocol && { GIT_PROTOCOL: options.protocol }),
  })
  if (child.pid === undefined) throw describeSpawnError((await once(child, 'error'))[0])
  const closed = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
    child.once('error', () => resolve(null))
  })
  let ended = false
  const end = () => {
    ended = true
    endGit(child)
  }
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000)
  })
  return {
    output: child.stdout,
    closed,
    wasKilled: async () => (await closed) === null && !ended,
    complaint: () => complaint,
    feed: (read, body, longest) => feed(child, end, read, body, longest),
    async answers() {
      await Promise.race([once(child.stdout, 'readable').catch(() => {}), closed])
      if (child.stdout.readableLength > 0) return true
      child.stdout.resume()
      return (await closed) === 0
    },
    end,
  }
}

function feed(
  child: ChildProcessWithoutNullStreams,
  end: () => void,
  read: Buffer[],
  body: Readable,
  longest = Number.POSITIVE_INFINITY,
) {
  // A body that is cut off never looks complete: its end is not passed on, and whoever noticed ends the child.
  body.on('error', end)
  for (const chunk of read) child.stdin.write(chunk)
  // The rest of a body that git no longer reads is still received, because a client that is sending does not read the answer; it is not unpacked.
  child.stdin.once('close', () => (body instanceof Transform ? body.destroy() : body.resume()))
  let sent = 0
  body.on('data', (chunk: Buffer) => {
    sent += chunk.length
    if (sent > longest) end()
  })
  body.pipe(child.stdin)
}

/**
 * Passes a stream on; its last piece waits until `done`. If `done` fails because the database is away, the client gets that error instead; else
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

/** An error that makes the git client fail and show it: a packet on the third band of the answer to a push. */
function fatal(message: string) {
  const packet = `\x03${message}\n`
  return Buffer.from(`${(packet.length + 4).toString(16).padStart(4, '0')}${packet}0000`)
}
