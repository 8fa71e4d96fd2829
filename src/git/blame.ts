import type { CommitSummary } from './last-commits.ts'
import { type Reading, split, streamGit } from './run-git.ts'

/** Lines in a row that the same commit changed last. */
export interface BlameRange {
  commit: CommitSummary
  /** From 1 on. */
  start: number
  lines: number
  /** The commit and the path before this change, if there was one. */
  previous: { sha: string; path: string } | undefined
}

/** In bytes, of a line of git's output. Contents of lines are not needed. */
const longestLine = 1 << 12

/** Which commit changed each line of a file last. */
export async function readBlame({ path, ...bounds }: Reading, commit: string, file: string): Promise<BlameRange[]> {
  const args = ['--literal-pathspecs', 'blame', '--porcelain', commit, '--', file]
  const commits = new Map<string, Pick<BlameRange, 'commit' | 'previous'>>()
  const ranges: BlameRange[] = []
  let sha = ''
  let start = 0
  for await (const lines of split(streamGit(path, args, bounds), 0x0a, longestLine)) {
    for (const bytes of lines) {
      const line = bytes.toString()
      const header = /^([0-9a-f]{40}) \d+ (\d+)/.exec(line)
      const known = commits.get(sha)
      if (header) {
        sha = header[1] ?? ''
        start = Number(header[2])
        if (!commits.has(sha)) commits.set(sha, { commit: emptySummary(sha), previous: undefined })
      } else if (line.startsWith('\t')) {
        const last = ranges.at(-1)
        if (last?.commit.sha === sha) last.lines++
        else if (known) ranges.push({ ...known, start, lines: 1 })
      } else if (known) readField(known, line)
    }
  }
  return ranges
}

const emptySummary = (sha: string): CommitSummary => ({
  sha,
  author: { name: '', email: '' },
  committed_at: new Date(0),
  title: '',
})

function readField(known: Pick<BlameRange, 'commit' | 'previous'>, line: string) {
  const [, field = '', value = ''] = /^([a-z-]+) (.*)$/.exec(line) ?? []
  const { commit } = known
  if (field === 'author') commit.author.name = value
  else if (field === 'author-mail') commit.author.email = value.replaceAll(/^<|>$/g, '')
  else if (field === 'committer-time') commit.committed_at = new Date(/^\d{1,11}$/.test(value) ? Number(value) * 1000 : 0)
  else if (field === 'summary') commit.title = value
  else if (field === 'previous') {
    const [, sha = '', path = ''] = /^([0-9a-f]{40}) (.+)$/.exec(value) ?? []
    // Git quotes unusual paths; the link to the earlier version is left out for those.
    if (sha && !path.startsWith('"')) known.previous = { sha, path }
  }
}
