import { once } from 'node:events'
import { pipeline, type Readable, Transform, type Writable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { tolerantSettings } from './fsck-faults.ts'
import { startGit } from './git.ts'
import type { GitLimits } from './limits.ts'
import { hiddenRefs } from './objects.ts'
import { answerHook, type PushChecks, pushSettings } from './push-hooks.ts'

export type ServiceName = 'upload-pack' | 'receive-pack'

const hidden = hiddenRefs.map((folder) => `transfer.hideRefs=${folder}`)

const settings = {
  'upload-pack': ['uploadpack.allowFilter=true', ...hidden],
  'receive-pack': [
    // A job does the housekeeping, so that no push waits for it.
    'receive.autogc=false',
    // Belfry has none, but an operator's hook may read them, and a push with options must not fail.
    'receive.advertisePushOptions=true',
    'receive.fsckObjects=true',
    ...tolerantSettings,
    'receive.hideRefs=refs/pull',
    ...hidden,
    'core.logAllRefUpdates=false',
  ],
}

/** The git process of one request. */
export interface Service {
  output: Readable
  /** The exit code, when all output is read; null if a signal ended git. */
  closed: Promise<number | null>
  /** Whether a signal ended git that we did not send. */
  wasKilled(): Promise<boolean>
  /** The end of standard error. */
  complaint(): string
  /** Sends the request: the bytes that were already read, then the rest. More than `longest` bytes end git. */
  feed(read: Buffer[], body: Readable, longest?: number): void
  /** Whether git sends a response or exits with 0. It sends none to a request that it cannot read. */
  answers(): Promise<boolean>
  end(): void
}

export async function openService(
  name: ServiceName,
  path: string,
  options: { advertise?: boolean; protocol?: string | undefined; checks?: PushChecks; limits: GitLimits },
): Promise<Service> {
  const { checks } = options
  const { configured, environment } =
    name === 'upload-pack' ? { configured: [], environment: {} } : pushSettings(path, options.limits, checks?.guarded ?? [])
  const mode = ['--stateless-rpc', ...(options.advertise ? ['--http-backend-info-refs'] : [])]
  const program = await startGit(
    [...settings[name], ...configured].flatMap((setting) => ['-c', setting]).concat(name, ...mode, path),
    {
      ...environment,
      ...(options.protocol && { GIT_PROTOCOL: options.protocol }),
    },
    true,
    checks !== undefined,
  )
  if (checks && program.channel) answerHook(program.channel, checks.confirm)
  const closed = program.closed.then(({ status }) => status)
  let ended = false
  const end = () => {
    ended = true
    program.kill()
  }
  let complaint = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000)
  })
  return {
    output: program.stdout,
    closed,
    wasKilled: async () => (await closed) === null && !ended,
    complaint: () => complaint,
    feed: (read, body, longest) => feed(program.stdin, end, read, body, longest),
    async answers() {
      await Promise.race([once(program.stdout, 'readable').catch(() => {}), closed])
      if (program.stdout.readableLength > 0) return true
      program.stdout.resume()
      return (await closed) === 0
    },
    end,
  }
}

function feed(stdin: Writable, end: () => void, read: Buffer[], body: Readable, longest = Number.POSITIVE_INFINITY) {
  // A body that breaks off must not look complete: its end is not passed on, and git is ended.
  if (body.destroyed && !body.readableEnded) return end()
  body.on('error', end)
  for (const chunk of read) stdin.write(chunk)
  // The rest of a body that git does not read is still received, because a client that is sending does not read the response. It is not
  // decompressed.
  const release = () => (body instanceof Transform ? body.destroy() : body.resume())
  // A git that ended at once has closed it already.
  if (stdin.destroyed) return void release()
  stdin.once('close', release)
  let sent = 0
  body.on('data', (chunk: Buffer) => {
    sent += chunk.length
    if (sent > longest) end()
  })
  body.pipe(stdin)
}

/** Takes the pieces that may be passed on from those that are held back. */
type Release = (held: Buffer[]) => Buffer[]

/** Passes a stream on, but holds back its end: `finish` returns what is sent instead of it. If that fails, the stream breaks off. */
function replaceEnd(output: Readable, release: Release, finish: (end: Buffer) => Promise<Buffer>): Readable {
  const held: Buffer[] = []
  const gate = new Transform({
    transform(chunk: Buffer, _, next) {
      held.push(chunk)
      for (const piece of release(held)) this.push(piece)
      next()
    },
    flush(next) {
      finish(Buffer.concat(held)).then((piece) => next(null, piece), next)
    },
  })
  return pipeline(output, gate, () => {})
}

/**
 * Holds back everything but progress, because a client may take the report of a push for its end. The output of a hook that runs after the
 * report is not delayed. A piece of the stream may begin and end within a packet; of those held back, only the last one can be a part.
 */
const releaseProgress: Release = (held) => {
  const bytes = Buffer.concat(held.splice(-2))
  const released: Buffer[] = []
  for (let begin = 0, end = 0; begin < bytes.length; begin = end) {
    end = endOfPacket(bytes, begin)
    const isProgress = bytes[begin + 4] === progress && end > begin + 4 && end <= bytes.length
    const pieces = isProgress ? released : held
    pieces.push(bytes.subarray(begin, end))
  }
  return released
}

/** The side band of messages for the user. */
const progress = 2

/** A packet begins with its length, in four digits. Less than four is a mark without contents. */
function endOfPacket(bytes: Buffer, begin: number) {
  const length = Number.parseInt(bytes.toString('latin1', begin, begin + 4), 16) || 0
  return begin + Math.max(4, length)
}

/** In bytes: more than a complaint of git takes. */
const longestComplaint = 500

/** Holds back whole pieces, because copying a pack would take as long as sending it. */
const releasePieces: Release = (held) => {
  let later = held.reduce((sum, { length }) => sum + length, 0)
  const kept = held.findIndex(({ length }) => {
    later -= length
    return later < longestComplaint
  })
  return held.splice(0, kept)
}

/** Delays the report of a push until `done`. If `done` fails because the database is away, or is refused, the client gets that message instead. */
export const delayReport = (output: Readable, done: Promise<void>) =>
  replaceEnd(output, releaseProgress, (end) =>
    done.then(
      () => end,
      (error) => {
        if (error instanceof DatabaseUnavailable) return fatal(notRecorded)
        if (error instanceof Refusal) return fatal(error.message)
        throw error
      },
    ),
  )

/** How upload-pack ends when it cannot read a repository: as a packet of its own, or on the third side band. */
const complaints = [
  { kind: 'ERR ', begins: 'ERR upload-pack: not our ref' },
  { kind: '\x03', begins: '\x03aborting due to possible repository corruption' },
]

/** If git fails and `findReason` returns a message, the client gets that instead of git's own, which blames the repository. */
export const explainFailure = ({ output, closed }: Service, findReason: () => Promise<string | undefined>) =>
  replaceEnd(output, releasePieces, async (end) => {
    const text = end.toString('latin1')
    const found = complaints.map(({ kind, begins }) => ({ kind, at: text.lastIndexOf(begins) })).find(({ at }) => at >= 4)
    const reason = found && (await closed) !== 0 ? await findReason() : undefined
    if (!found || reason === undefined) return end
    return Buffer.from(text.slice(0, found.at - 4) + packet(`${found.kind}${reason}\n`), 'latin1')
  })

const notRecorded =
  'The database is not reachable at the moment: the push has arrived, but is not recorded yet. Push again in a few seconds.'

/** A packet on the third side band of the response, which makes the git client fail and show the message. */
export const fatal = (message: string) => Buffer.from(`${packet(`\x03${message}\n`)}0000`)

const packet = (line: string) => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`
