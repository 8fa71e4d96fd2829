import type { Import } from '#parts/imports/import-row.ts'
import { recordProgress } from '#parts/imports/progress.ts'
import type { RunnerDeps } from './deps.ts'
import type { Progress } from './worker-process.ts'

/** How often progress is written at most, and a sign of life at least, in milliseconds. */
const interval = 300
const heartbeat = 10_000

/** Writes down how far a worker is, not as often as it tells. `advanced` hears each time how far that is, to be compared with itself. */
export function openProgressWriter({ db, log }: RunnerDeps, { id, run }: Import, onAdvance: (furthest: number) => Promise<void>) {
  let pending: Progress = {}
  let eventFor = true
  let last = 0
  let writing: Promise<void> | undefined
  let furthest = 0

  async function write() {
    const progress = pending
    pending = {}
    eventFor = false
    last = performance.now()
    try {
      await recordProgress(db, id, run, progress)
      await onAdvance(furthest)
    } catch (error) {
      // What was found stays to be written, with what comes after it.
      pending = { ...progress, ...pending, ...joinAuthors(progress, pending) }
      eventFor = true
      log.debug({ err: error, import_id: id }, 'the progress of an import could not be written')
      throw error
    }
  }

  const timer = setInterval(() => {
    if (!eventFor && performance.now() - last < heartbeat) return
    writing ??= write()
      .catch(() => {})
      .finally(() => {
        writing = undefined
      })
  }, interval).unref()

  return {
    tell(progress: Progress) {
      pending = { ...pending, ...progress, ...joinAuthors(pending, progress) }
      eventFor = true
      const { percent = 0, push_percent = 0, commit_count = 0 } = pending
      furthest = Math.max(furthest, percent + push_percent + commit_count)
    },
    /** All that was told is written when this resolves. */
    async end() {
      clearInterval(timer)
      await writing
      if (eventFor) await write()
    },
  }
}

function joinAuthors(before: Progress, after: Progress): Pick<Progress, 'authors'> {
  const authors = [...(before.authors ?? []), ...(after.authors ?? [])]
  return authors.length > 0 ? { authors } : {}
}
