import { type CommitObject, cutMessage } from './objects.ts'
import { type Reading, runGit } from './run-git.ts'
import { readSignatures } from './signed-text.ts'

const readLimit = 1 << 24

/** Filters of a list of commits. A commit matches if its author contains one of these texts, and its committer one of these. */
export interface LogFilter {
  authors?: string[] | undefined
  committers?: string[] | undefined
  /** Texts that the message contains, all of them. */
  messages?: string[] | undefined
  since?: Date | undefined
  until?: Date | undefined
  path?: string | undefined
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1000)

function describe({ authors, committers, messages, since, until, path }: LogFilter, revisions: string[]) {
  return [
    // Addresses are compared as texts. A mailmap of the repository would show other ones than the commits have.
    ...(authors || committers || messages ? ['--fixed-strings', '--regexp-ignore-case'] : []),
    ...(authors ?? []).map((text) => `--author=${text}`),
    ...(committers ?? []).map((text) => `--committer=${text}`),
    ...(messages?.length ? ['--all-match', ...messages.map((text) => `--grep=${text}`)] : []),
    ...(since ? [`--since=@${seconds(since)}`] : []),
    ...(until ? [`--until=@${seconds(until)}`] : []),
    '--end-of-options',
    ...revisions,
    ...(path ? ['--', path] : ['--']),
  ]
}

const format = '--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B'

/** Commits that are reachable from `revisions`. `options` are options of `git log` for their number and order. */
export async function readLog(
  { path, ...bounds }: Reading,
  revisions: string[],
  options: string[],
  filter: LogFilter = {},
): Promise<CommitObject[]> {
  const args = ['--literal-pathspecs', 'log', '-z', '--no-mailmap', format, ...options, ...describe(filter, revisions)]
  const { output } = await runGit(path, args, { ...bounds, limit: readLimit })
  const fields = output.toString().split('\0')
  const commits = Array.from({ length: Math.floor(fields.length / 10) }, (_, index) => {
    const [sha = '', tree = '', parents = '', ...rest] = fields.slice(10 * index, 10 * index + 10)
    const [name = '', email = '', written = '', their_name = '', their_email = '', committed = '', message = ''] = rest
    return {
      sha,
      tree,
      parents: parents.split(' ').filter(Boolean),
      author: { name, email, date: readTime(written) },
      committer: { name: their_name, email: their_email, date: readTime(committed) },
      message: cutMessage(message),
    }
  })
  const shas = commits.map(({ sha }) => sha)
  const signed = await readSignatures({ path, ...bounds }, shas)
  return commits.map((commit) => ({ ...commit, signed: signed.get(commit.sha) }))
}

/** Commits can have times outside the range of Date. */
const readTime = (seconds: string) => new Date(/^\d{1,11}$/.test(seconds) ? Number(seconds) * 1000 : 0)

/** The number of commits, counted up to `most`. */
export async function countLog({ path, ...bounds }: Reading, revisions: string[], most: number, filter: LogFilter = {}) {
  const limit = most < Infinity ? [`--max-count=${most}`] : []
  const args = ['--literal-pathspecs', 'rev-list', '--count', ...limit, ...describe(filter, revisions)]
  return Number((await runGit(path, args, bounds)).output.toString())
}
