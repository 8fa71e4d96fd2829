import { randomUUID } from 'node:crypto'
import { type Reading, split, streamGit } from './run-git.ts'

/** A commit as lists of files show it. */
export interface CommitSummary {
  sha: string
  author: { name: string; email: string }
  committed_at: Date
  /** The first paragraph of the message in one line. */
  title: string
}

export interface LastCommits {
  /** The latest commit that changed the folder. */
  latest: CommitSummary | undefined
  /** By the name of the entry. An entry is missing if its last change is too far back. */
  entries: Map<string, CommitSummary>
}

/** Bounds of one walk: commits that change the folder, changed files that git lists, and bytes of a title or a path. */
const mostCommits = 5000
const mostChanges = 200_000
const longestField = 1 << 12

/**
 * The last commit of each entry of a folder, found by one walk through history that ends when all are found, when it has read enough, or
 * when `reading.signal` aborts. The folder is a path without a slash at its end, or empty for the root.
 */
export async function readLastCommits(
  { path, ...bounds }: Reading,
  commit: string,
  folder: string,
  names: string[],
): Promise<LastCommits> {
  // A file may have any name, but not one that contains this mark.
  const mark = randomUUID()
  const format = `--format=${mark}%H%x00%an%x00%ae%x00%ct%x00%s`
  const options = ['-z', '--name-only', '--no-renames', '--no-mailmap', `--max-count=${mostCommits}`, format]
  const args = ['--literal-pathspecs', 'log', ...options, '--end-of-options', commit, '--', ...(folder ? [folder] : [])]
  const missing = new Set(names)
  const found: LastCommits = { latest: undefined, entries: new Map() }
  const prefix = folder ? `${folder}/` : ''
  let header: string[] = []
  let current: CommitSummary | undefined
  let changes = 0
  try {
    for await (const fields of split(streamGit(path, args, bounds), 0, longestField)) {
      for (const bytes of fields) {
        const field = bytes.toString()
        if (field.startsWith(mark)) {
          header = [field.slice(mark.length)]
          current = undefined
        } else if (current === undefined && header.length < headerFields) {
          header.push(field)
          if (header.length < headerFields) continue
          current = summaryOf(header)
          found.latest ??= current
          if (!missing.size) return found
        } else if (current) {
          // A line feed separates a commit from its files.
          const file = field.replace(/^\n/, '')
          const [name = ''] = file.slice(prefix.length).split('/', 1)
          if (file.startsWith(prefix) && missing.delete(name)) found.entries.set(name, current)
          if (!missing.size || ++changes > mostChanges) return found
        }
      }
    }
  } catch (error) {
    if (!bounds.signal.aborted) throw error
  }
  return found
}

const headerFields = 5

function summaryOf([sha = '', name = '', email = '', seconds = '', title = '']: string[]): CommitSummary {
  // Commits can have times outside the range of Date.
  const committed_at = new Date(/^\d{1,11}$/.test(seconds) ? Number(seconds) * 1000 : 0)
  return { sha, author: { name, email }, committed_at, title }
}

/** The commits with these ids, in their order. */
export async function readSummaries({ path, ...bounds }: Reading, shas: string[]): Promise<CommitSummary[]> {
  if (!shas.length) return []
  const format = '--format=%H%x00%an%x00%ae%x00%ct%x00%s'
  const args = ['log', '-z', '--no-walk=unsorted', '--no-mailmap', format, '--stdin']
  const input = shas.map((sha) => `${sha}\n`).join('')
  const fields: string[] = []
  for await (const pieces of split(streamGit(path, args, { ...bounds, input }), 0, longestField)) {
    fields.push(...pieces.map((piece) => piece.toString()))
  }
  return Array.from({ length: Math.floor(fields.length / headerFields) }, (_, index) =>
    summaryOf(fields.slice(index * headerFields, (index + 1) * headerFields)),
  )
}
