import { resolve } from 'node:path'
import { Refusal } from '#platform/errors.ts'
import { type CommitObject, cutMessage, hasRefs, resolveCommit } from './objects.ts'
import { runGit, split, streamGit, within } from './run-git.ts'
import type { Storage } from './storage.ts'

/** Limits of the lists. Counts include everything. */
const mostCommits = 250
const mostFiles = 300
const longestPatch = 1 << 16
const longestPatches = 1 << 22
const longestPath = 1 << 13
const readLimit = 1 << 24
const patience = 30_000

export interface ChangedFile {
  /** The blob in the head, or in the base if the file is removed. */
  sha: string
  filename: string
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied'
  additions: number
  deletions: number
  changes: number
  previous_filename?: string
  /** Without the file header. Binary files and long diffs have none. */
  patch?: string
}

export interface Comparison {
  base: string
  head: string
  /** Null for unrelated histories; then the files are the difference of the two trees. */
  merge_base: string | null
  status: 'identical' | 'ahead' | 'behind' | 'diverged'
  ahead_by: number
  behind_by: number
  total_commits: number
  /** The latest ones, oldest first. */
  commits: CommitObject[]
  changed_files: number
  additions: number
  deletions: number
  files: ChangedFile[]
}

/** The commits and changes of the head since its merge base with the base. */
export async function compare(storage: Storage, repo_id: number, base_name: string, head_name: string): Promise<Comparison> {
  const [base, head] = await findBoth(storage, repo_id, base_name, head_name)
  const path = resolve(storage.pathOf(repo_id))
  return within(patience, async (signal) => {
    const [{ ahead_by, behind_by }, merge_base] = await Promise.all([
      countApart(path, base, head, signal),
      findMergeBase(path, base, head, signal),
    ])
    const [commits, changes] = await Promise.all([
      ahead_by ? readCommits(path, base, head, signal) : [],
      readChanges(path, merge_base ?? base, head, signal),
    ])
    const status = ahead_by ? (behind_by ? 'diverged' : 'ahead') : behind_by ? 'behind' : 'identical'
    return { base, head, merge_base, status, ahead_by, behind_by, total_commits: ahead_by, commits, ...changes }
  })
}

/** Resolves two names to commit ids, so that git gets only ids. */
export async function findBoth(storage: Storage, repo_id: number, base: string, head: string): Promise<[string, string]> {
  const found = await Promise.all([base, head].map((name) => resolveCommit(storage, repo_id, name)))
  const [base_sha, head_sha] = found
  if (base_sha && head_sha) return [base_sha, head_sha]
  if (!(await hasRefs(storage, repo_id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
  throw new Refusal('missing', `No commit found for the ref ${base_sha ? head : base}`)
}

async function countApart(path: string, base: string, head: string, signal: AbortSignal) {
  const args = ['rev-list', '--left-right', '--count', '--end-of-options', `${base}...${head}`]
  const { output } = await runGit(path, args, { signal })
  const [behind_by = 0, ahead_by = 0] = output.toString().split('\t').map(Number)
  return { ahead_by, behind_by }
}

/** If there are several, the one that git uses for comparisons. */
export async function findMergeBase(path: string, base: string, head: string, signal: AbortSignal): Promise<string | null> {
  const { output } = await runGit(path, ['merge-base', '--end-of-options', base, head], { signal, expected: [0, 1] })
  return output.toString().trim() || null
}

async function readCommits(path: string, base: string, head: string, signal: AbortSignal): Promise<CommitObject[]> {
  const format = '--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B'
  const args = ['log', '-z', '--date-order', '--reverse', `--max-count=${mostCommits}`, format, '--end-of-options', head]
  const { output } = await runGit(path, [...args, `^${base}`], { signal, limit: readLimit })
  const fields = output.toString().split('\0')
  return Array.from({ length: Math.floor(fields.length / 10) }, (_, index) => {
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
}

/** Commits can have times outside the range of Date. */
const readTime = (seconds: string) => new Date(/^\d{1,11}$/.test(seconds) ? Number(seconds) * 1000 : 0)

type Changes = Pick<Comparison, 'files' | 'changed_files' | 'additions' | 'deletions'>

async function readChanges(path: string, from: string, to: string, signal: AbortSignal): Promise<Changes> {
  const { retyped, ...changes } = await listChanges(path, from, to, signal)
  if (!changes.files.length) return changes
  // When a file changes its type, as to a link, git shows a removal and an addition.
  const sections = changes.files.flatMap((file) => (retyped.has(file) ? [file, file] : [file]))
  const patches = await readPatches(path, from, to, sections.length, signal)
  for (const [index, file] of sections.entries()) {
    const patch = patches[index]
    if (patch) file.patch = file.patch ? `${file.patch}\n${patch}` : patch
  }
  return changes
}

const statuses: Record<string, ChangedFile['status']> = { A: 'added', D: 'removed', R: 'renamed', C: 'copied' }

/** Reads the whole list for the counts, and keeps the first files. */
async function listChanges(path: string, from: string, to: string, signal: AbortSignal) {
  const changes: Changes = { files: [], changed_files: 0, additions: 0, deletions: 0 }
  const retyped = new Set<ChangedFile>()
  const note = ([before = '', after = '', letter = '']: string[], names: string[]) => {
    if (changes.changed_files++ >= mostFiles) return
    const [previous, filename = previous ?? ''] = names
    const status = statuses[letter] ?? 'modified'
    const sha = status === 'removed' ? before : after
    const renamed = previous !== undefined && names.length > 1 ? { previous_filename: previous } : {}
    const file = { sha, filename, status, additions: 0, deletions: 0, changes: 0, ...renamed }
    changes.files.push(file)
    if (letter === 'T') retyped.add(file)
  }
  let counted = 0
  const count = ([added = '', removed = '']: string[]) => {
    const [additions, deletions] = [Number(added) || 0, Number(removed) || 0]
    changes.additions += additions
    changes.deletions += deletions
    const file = changes.files[counted++]
    if (file) Object.assign(file, { additions, deletions, changes: additions + deletions })
  }
  // Git prints a line and names for each file, then the counts in the same order. Names belong to the line before them.
  let entry: { fields: string[]; names: string[]; wanted: number; take: typeof note } | undefined
  const args = [
    'diff-tree',
    '-r',
    '-M',
    '-z',
    '--raw',
    '--numstat',
    '--no-ext-diff',
    '--no-textconv',
    '--end-of-options',
    from,
    to,
  ]
  for await (const pieces of split(streamGit(path, args, { signal }), 0, longestPath)) {
    for (const piece of pieces) {
      const text = piece.toString()
      if (entry) {
        entry.names.push(text)
      } else if (text.startsWith(':')) {
        const [, , before = '', after = '', letter = ''] = text.split(' ')
        entry = { fields: [before, after, letter.slice(0, 1)], names: [], wanted: /^[RC]/.test(letter) ? 2 : 1, take: note }
      } else {
        const fields = text.split('\t', 3)
        entry = { fields, names: [], wanted: fields[2] === '' ? 2 : 0, take: count }
      }
      if (entry.names.length < entry.wanted) continue
      entry.take(entry.fields, entry.names)
      entry = undefined
    }
  }
  return { ...changes, retyped }
}

/** The hunks of the first `count` sections of a diff. */
async function readPatches(path: string, from: string, to: string, most: number, signal: AbortSignal) {
  const patches: (string | undefined)[] = []
  let lines: Buffer[] | undefined
  let length = 0
  let total = 0
  const close = () => {
    const patch = lines && length <= longestPatch && total + length <= longestPatches ? join(lines) : undefined
    if (patch !== undefined) total += length
    patches.push(patch)
  }
  let begun = false
  const args = ['diff-tree', '-r', '-M', '-p', '--no-ext-diff', '--no-textconv', '--end-of-options', from, to]
  reading: for await (const pieces of split(streamGit(path, args, { signal }), 10, longestPatch + 1)) {
    for (const line of pieces) {
      // Each line of a hunk begins with a marker.
      if (line.subarray(0, 11).equals(header)) {
        if (begun) close()
        if (patches.length >= most) break reading
        begun = true
        lines = undefined
        length = 0
      } else if (lines || line[0] === 64) {
        lines ??= []
        length += line.length + 1
        if (length <= longestPatch) lines.push(line)
      }
    }
  }
  if (patches.length < most && begun) close()
  return patches
}

const header = Buffer.from('diff --git ')
const join = (lines: Buffer[]) => lines.map((line) => line.toString()).join('\n')
