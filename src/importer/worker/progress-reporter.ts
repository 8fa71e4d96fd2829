import type { Author, Progress } from '#importer/source.ts'
import type { Said } from '#importer/steps.ts'

type Told = Progress & { push_percent?: number }

/** So often at most, in milliseconds: who hears it writes it down. */
const interval = 100

/** Puts together what is told in quick succession. */
export function openReporter(say: (said: Said) => void) {
  let pending: Told | undefined
  let authors: Author[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (!pending) return
    say({ progress: { ...pending, ...(authors.length > 0 && { authors }) } })
    pending = undefined
    authors = []
  }
  return {
    tell(progress: Told) {
      authors = authors.concat(progress.authors ?? [])
      pending = { ...pending, ...progress }
      timer ??= setTimeout(flush, interval).unref()
    },
    flush,
  }
}
