import { Refusal } from '#platform/errors.ts'
import { tolerated } from './fsck-faults.ts'
import { runGit } from './run-git.ts'

/** How many faults of one repository are reported. */
const most = 5

/**
 * Checks that everything behind the refs of a repository is there; with `contents`, also reads every object. Returns the first faults, as git
 * words them, or `late` after `timeout` milliseconds.
 */
export async function checkObjects(path: string, timeout: number, { contents = false } = {}): Promise<string[] | 'late'> {
  const signal = AbortSignal.timeout(Math.ceil(timeout))
  const settings = tolerated.flatMap((fault) => ['-c', `fsck.${fault}=ignore`])
  const depth = contents ? ['--full'] : ['--connectivity-only']
  let complaint = ''
  try {
    const { status, output } = await runGit(
      path,
      [...settings, 'fsck', ...depth, '--no-dangling', '--no-reflogs', '--no-progress'],
      {
        signal,
        // Each bit is a kind of fault.
        expected: Array.from({ length: 64 }, (_, code) => code),
        onText: (text) => {
          complaint = (complaint + text).slice(0, 10_000)
        },
        limit: 1 << 16,
      },
    )
    if (status === 0) return []
    const lines = `${complaint}${output.toString()}`
      .split('\n')
      .filter((line) => line && !/^(notice|Checking|warning)/.test(line))
    return lines.length ? lines.slice(0, most) : [`git fsck ended with ${status}`]
  } catch (error) {
    if (signal.aborted) return 'late'
    if (error instanceof Refusal) throw error
    return [(error as Error).message]
  }
}
