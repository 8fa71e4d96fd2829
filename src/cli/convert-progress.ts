import type { Order, WorkerProgress } from '#importer/steps.ts'
import { describeLeftOut } from './convert-report.ts'
import { openProgress } from './progress.ts'

const words: Record<Order['step'], string> = {
  detect: 'Looking at the source',
  authors: 'Listing the authors',
  preview: 'Finding what no branch will contain',
  import: 'Reading the history',
  arrange: 'Finding branches and tags',
  map: 'Making branches and tags, and comparing them with the source',
  push: 'Writing the repository',
  correct: 'Correcting authors',
}

/** In milliseconds. A conversion in a pipeline of continuous integration would otherwise look as if it hung. */
const logInterval = 10_000

/** Shows the steps of a conversion on a terminal, or in a log. What no branch will contain is named before the long work, everywhere. */
export function openStepProgress(warn: (text: string) => void) {
  const line = openProgress(process.stderr, logInterval)
  let step: Order['step'] = 'detect'
  let revisions = 0
  return {
    clear: line.clear,
    listeners: {
      onStep(next: Order['step']) {
        step = next
        line.show(`${words[step]} …`)
      },
      onProgress({ percent, commit_count, push_percent, left_out = [] }: WorkerProgress) {
        if (left_out.length > 0) {
          line.clear()
          warn(`Warning: ${describeLeftOut(left_out).join('\n')}`)
        }
        revisions = commit_count ?? revisions
        const part = step === 'import' ? percent : step === 'push' ? push_percent : undefined
        const counted = step === 'import' && revisions > 0 ? `: ${revisions} revisions` : ''
        line.show(`${words[step]}${counted} …`, part === undefined ? undefined : part / 100)
      },
    },
  }
}
