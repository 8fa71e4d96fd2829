import { resolve } from 'node:path'
import { compare } from '#git/compare.ts'
import { resolveCommit } from '#git/objects.ts'
import { runGit, within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import { type Fault, invalid } from '#platform/errors.ts'

export type Side = 'LEFT' | 'RIGHT'

/** The position that a client sends with a comment. */
export interface RequestedPosition {
  path: string
  /** The older form: the number of lines below the first `@@` of the file. */
  position?: number | null
  /** A line of the old file (`LEFT`) or of the new one; of a range, the last line. */
  line?: number | null
  side?: Side | null
  start_line?: number | null
  start_side?: Side | null
  subject_type?: 'line' | 'file' | null
}

/** The same, resolved in the diff. */
export interface DiffPosition {
  path: string
  subject_type: 'line' | 'file'
  diff_hunk: string
  position: number | null
  line: number | null
  side: Side | null
  start_line: number | null
  start_side: Side | null
}

const patience = 30_000

/** The named commit of a pull request, by default its last one. */
export async function findReviewed(storage: Storage, pull: Pull, name: string | null | undefined): Promise<string> {
  if (name == null || name === pull.head_sha) return pull.head_sha
  if (/^[0-9a-f]{40}$/.test(name) && (await isPartOf(storage, pull, name))) return name
  throw fault({ code: 'custom', field: 'commit_id', message: 'commit_id is not part of the pull request' })
}

async function isPartOf(storage: Storage, { repo_id, base_sha, head_sha }: Pull, sha: string): Promise<boolean> {
  const there = await Promise.all([base_sha, head_sha, sha].map((each) => resolveCommit(storage, repo_id, each)))
  if (there.includes(undefined)) return false
  return within(patience, async (signal) => {
    const isIn = async (tip: string) => {
      const args = ['merge-base', '--is-ancestor', '--end-of-options', sha, tip]
      return (await runGit(resolve(storage.pathOf(repo_id)), args, { signal, expected: [0, 1] })).status === 0
    }
    return (await isIn(head_sha)) && !(await isIn(base_sha))
  })
}

/** Resolves positions of comments in the diff of a pull request up to one of its commits. */
export async function resolvePositions(
  storage: Storage,
  pull: Pull,
  commit: string,
  wanted: RequestedPosition[],
): Promise<DiffPosition[]> {
  if (!wanted.length) return []
  const { files } = await compare(storage, pull.repo_id, pull.base_sha, commit)
  const named = files.filter(({ filename }) => wanted.some(({ path }) => path === filename))
  const patches = new Map(named.map(({ filename, patch = '' }) => [filename, readPatch(patch)]))
  return wanted.map((one) => resolvePosition(patches.get(one.path), one))
}

function resolvePosition(lines: PatchLine[] | undefined, wanted: RequestedPosition): DiffPosition {
  const { path, line, side, start_line, subject_type } = wanted
  if (!lines) throw notInDiff('path')
  const whole = { position: null, line: null, side: null, start_line: null, start_side: null }
  if (subject_type === 'file') return { path, subject_type, diff_hunk: '', ...whole }
  const end = line == null ? atPosition(lines, wanted.position) : atLine(lines, 'line', line, side ?? 'RIGHT')
  const found: DiffPosition = { ...whole, path, subject_type: 'line', diff_hunk: hunkUpTo(lines, end.position), ...end }
  if (start_line == null) return found
  const start = atLine(lines, 'start_line', start_line, wanted.start_side ?? end.side)
  if (start.position >= end.position) throw misplaced('start_line', 'must precede the end line.')
  if (headOf(lines, start.position) !== headOf(lines, end.position))
    throw misplaced('start_line', 'must be part of the same hunk as the line.')
  return { ...found, start_line, start_side: start.side }
}

/** A line of a patch, with its numbers in the old and the new file. Its index in the list is its `position`. */
export interface PatchLine {
  text: string
  LEFT?: number
  RIGHT?: number
}

export function readPatch(patch: string): PatchLine[] {
  let [left, right] = [0, 0]
  // Git checks only the start of a file for null characters; PostgreSQL rejects all of them.
  const lines = patch.replaceAll('\0', '\ufffd').split('\n')
  return lines.map((text) => {
    const [, before, after] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text) ?? []
    if (before !== undefined) [left, right] = [Number(before), Number(after)]
    else if (text.startsWith('-')) return { text, LEFT: left++ }
    else if (text.startsWith('+')) return { text, RIGHT: right++ }
    else if (text.startsWith(' ')) return { text, LEFT: left++, RIGHT: right++ }
    return { text }
  })
}

function atPosition(lines: PatchLine[], position: number | null | undefined) {
  if (position == null) throw fault({ code: 'missing_field', field: 'pull_request_review_thread.line' })
  const { LEFT, RIGHT } = lines[position] ?? {}
  if (RIGHT !== undefined) return { position, line: RIGHT, side: 'RIGHT' as const }
  if (LEFT !== undefined) return { position, line: LEFT, side: 'LEFT' as const }
  throw notInDiff('position')
}

function atLine(lines: PatchLine[], field: 'line' | 'start_line', line: number, side: Side) {
  const position = lines.findIndex((each) => each[side] === line)
  if (position < 0) throw notInDiff(field)
  return { position, line, side }
}

const headOf = (lines: PatchLine[], position: number) =>
  lines.findLastIndex(({ text }, index) => index <= position && text.startsWith('@@'))

const hunkUpTo = (lines: PatchLine[], position: number) =>
  lines
    .slice(headOf(lines, position), position + 1)
    .map(({ text }) => text)
    .join('\n')

const notInDiff = (field: string) => misplaced(field, 'must be part of the diff')

const misplaced = (field: string, rule: string) =>
  fault({ code: 'custom', field: `pull_request_review_thread.${field}`, message: `pull_request_review_thread.${field} ${rule}` })

export const fault = (what: Omit<Fault, 'resource'>) => invalid({ resource: 'PullRequestReviewComment', ...what })
