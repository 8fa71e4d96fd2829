import { Refusal } from '#platform/errors.ts'

/** The server has no git program. Requests that need git fail until an operator installs it. */
export class GitMissing extends Error {
  constructor(cause?: unknown) {
    super('Git is not installed on this server, or not on its PATH.', { cause })
  }
}

/** Another process killed git, as when the machine shuts down or is short of memory. */
export const endedBySignal = () => new Refusal('unavailable', 'A git process of this server was ended. Try again in a moment.')

const shortage = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'])

/** Translates the error of a git process that did not start. A shortage of memory, processes or file descriptors is temporary. */
export function describeSpawnError(error: unknown): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && syscall === 'spawn git') return new GitMissing(error)
  if (!shortage.has(code)) return error
  return new Refusal('unavailable', 'The server cannot start git at the moment. Try again in a moment.')
}
