import type { Author } from '#importer/source.ts'
import type { WorkerMessage, WorkerProgress } from '#importer/steps.ts'

/** In milliseconds, because the runner writes each message to the database. */
const interval = 100

/** Combines progress reports that follow each other quickly. */
export function openProgressReporter(send: (outgoing: WorkerMessage) => void) {
  let pending: WorkerProgress | undefined
  let authors: Author[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (!pending) return
    send({ progress: { ...pending, ...(authors.length > 0 && { authors }) } })
    pending = undefined
    authors = []
  }
  return {
    onProgress(progress: WorkerProgress) {
      authors = authors.concat(progress.authors ?? [])
      pending = { ...pending, ...progress }
      timer ??= setTimeout(flush, interval).unref()
    },
    flush,
  }
}
