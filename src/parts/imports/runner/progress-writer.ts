import type { Import } from '#parts/imports/import-row.ts'
import { recordProgress } from '#parts/imports/progress.ts'
import type { RunnerDeps } from './deps.ts'
import { logFailure } from './log-failure.ts'
import type { Progress } from './worker-process.ts'

/** In milliseconds: the shortest time between two writes, and the longest. */
const interval = 300
const heartbeat = 10_000

/** Writes the progress of a worker, less often than the worker reports it. `onWritten` gets a number that grows with the progress. */
export function openProgressWriter({ db, log }: RunnerDeps, { id, run }: Import, onWritten: (furthest: number) => Promise<void>) {
  let pending: Progress = {}
  let unwritten = true
  let last = 0
  let writing: Promise<void> | undefined
  let furthest = 0

  async function write() {
    const progress = pending
    pending = {}
    unwritten = false
    last = performance.now()
    try {
      await recordProgress(db, id, run, progress)
      await onWritten(furthest)
    } catch (error) {
      // Written with the next progress.
      pending = { ...progress, ...pending, ...joinAuthors(progress, pending) }
      unwritten = true
      throw error
    }
  }

  const timer = setInterval(() => {
    if (!unwritten && performance.now() - last < heartbeat) return
    writing ??= write()
      .catch((error) => logFailure(log, error, 'the progress of an import could not be written', { import_id: id }))
      .finally(() => {
        writing = undefined
      })
  }, interval).unref()

  return {
    add(progress: Progress) {
      pending = { ...pending, ...progress, ...joinAuthors(pending, progress) }
      unwritten = true
      const { percent = 0, push_percent = 0, commit_count = 0 } = pending
      furthest = Math.max(furthest, percent + push_percent + commit_count)
    },
    /** Writes what is left. */
    async end() {
      clearInterval(timer)
      await writing
      if (unwritten) await write()
    },
  }
}

function joinAuthors(before: Progress, after: Progress): Pick<Progress, 'authors'> {
  const authors = [...(before.authors ?? []), ...(after.authors ?? [])]
  return authors.length > 0 ? { authors } : {}
}
