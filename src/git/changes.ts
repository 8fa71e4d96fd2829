import { type Reading, split, streamGit } from './run-git.ts'

/** Limits of a page of files. Counts include everything. */
const mostFiles = 300
const longestPatch = 1 << 16
const longestPatches = 1 << 22
const longestPath = 1 << 13

/** The tree without entries, which git knows without its object. The first commit is compared with it. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

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

export interface Changes {
  changed_files: number
  additions: number
  deletions: number
  /** One page of them. */
  files: ChangedFile[]
}

/** The difference of two trees, with the patches of `limit` files after the first `offset`. */
export async function readChanges(
  reading: Reading,
  from: string,
  to: string,
  { offset = 0, limit = mostFiles } = {},
): Promise<Changes> {
  const { retyped, ...changes } = await listChanges(reading, from, to, offset + limit)
  if (changes.files.length <= offset) return { ...changes, files: [] }
  // When a file changes its type, as to a link, git shows a removal and an addition.
  const inSections = (files: ChangedFile[]) => files.flatMap((file) => (retyped.has(file) ? [file, file] : [file]))
  const skipped = inSections(changes.files.slice(0, offset)).length
  const files = changes.files.slice(offset)
  const sections = inSections(files)
  const patches = await readPatches(reading, from, to, skipped, skipped + sections.length)
  for (const [index, file] of sections.entries()) {
    const patch = patches[skipped + index]
    if (patch) file.patch = file.patch ? `${file.patch}\n${patch}` : patch
  }
  return { ...changes, files }
}

const statuses: Record<string, ChangedFile['status']> = { A: 'added', D: 'removed', R: 'renamed', C: 'copied' }

/** Reads the whole list for the counts, and keeps the first files. */
async function listChanges({ path, ...bounds }: Reading, from: string, to: string, most: number) {
  const changes: Changes = { files: [], changed_files: 0, additions: 0, deletions: 0 }
  const retyped = new Set<ChangedFile>()
  const note = ([before = '', after = '', letter = '']: string[], names: string[]) => {
    if (changes.changed_files++ >= most) return
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
  for await (const pieces of split(streamGit(path, args, bounds), 0, longestPath)) {
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

/** The hunks of the sections of a diff from `first` to before `end`. */
async function readPatches({ path, ...bounds }: Reading, from: string, to: string, first: number, end: number) {
  const patches: (string | undefined)[] = []
  let lines: Buffer[] | undefined
  let length = 0
  let total = 0
  const close = () => {
    const shown = lines && patches.length >= first
    const patch = shown && length <= longestPatch && total + length <= longestPatches ? join(lines ?? []) : undefined
    if (patch !== undefined) total += length
    patches.push(patch)
  }
  let begun = false
  const args = ['diff-tree', '-r', '-M', '-p', '--no-ext-diff', '--no-textconv', '--end-of-options', from, to]
  reading: for await (const pieces of split(streamGit(path, args, bounds), 10, longestPatch + 1)) {
    for (const line of pieces) {
      // Each line of a hunk begins with a marker.
      if (line.subarray(0, 11).equals(header)) {
        if (begun) close()
        if (patches.length >= end) break reading
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
  if (patches.length < end && begun) close()
  return patches
}

const header = Buffer.from('diff --git ')
const join = (lines: Buffer[]) => lines.map((line) => line.toString()).join('\n')
