import type { convertRepository, previewRepository } from '#importer/conversion/convert-repository.ts'
import type { Author, LeftOut, Notes } from '#importer/source.ts'

type Converted = Awaited<ReturnType<typeof convertRepository>>
type Preview = Awaited<ReturnType<typeof previewRepository>>

interface Report extends Converted {
  source: string
  target: string
  seconds: number
  authors_without_entry: string[]
}

const maxListed = 20

export function describeConversion(report: Report): string {
  const { source, target, vcs, refs, moved, authors, notes, verification, seconds, dropped, large_files } = report
  const { created, updated, removed, commits, rewritten } = moved
  const changed = created.length + updated.length + removed.length
  const rows: [string, string][] = [
    ['Branches', listNames(refs, 'refs/heads/')],
    ['Tags', listNames(refs, 'refs/tags/')],
    ['Revisions', `${report.commit_count} in the source`],
    ['Commits', changed === 0 ? 'nothing new' : `${commits} new`],
    ['Authors', `${authors.length}`],
  ]
  if (created.length > 0 && created.length < Object.keys(refs).length) rows.push(['Created', shorten(created)])
  if (updated.length > 0) rows.push(['Updated', shorten(updated)])
  if (removed.length > 0) rows.push(['Removed', shorten(removed)])
  if (rewritten) rows.push(['Rewritten', 'yes: commits of an earlier run were replaced, so clones of them must be made again'])
  if (large_files.length > 0) rows.push(['LFS', counted(large_files.length, 'large file')])
  if (dropped.length > 0) rows.push(['Left out', `${shorten(dropped)}: without commits after --since or with these files`])
  return [
    `Converted ${source} (${vcs}) into ${target} in ${seconds.toFixed(1)} s.`,
    ...rows.map(row),
    ...describeNotes(notes),
    ...describeLeftOut(report.left_out),
    ...describeProof(verification),
  ].join('\n')
}

export function describePreview(preview: Preview & { source: string; target: string }): string {
  const { source, target, vcs, commit_count, branches, tags, left_out } = preview
  const width = Math.max(...[...branches, ...tags].map(({ name }) => name.length), 0) + 2
  const line = (kind: string) => (ref: { name: string; path: string | null }) =>
    `  ${kind}  ${ref.path === null ? ref.name : `${ref.name.padEnd(width)}${ref.path || '/'}`}`
  return [
    `${source} (${vcs}): ${counted(commit_count, 'revision')}, ${counted(branches.length, 'branch')}, ${counted(tags.length, 'tag')}. Nothing was converted.`,
    ...branches.map(line('branch')),
    ...tags.map(line('tag   ')),
    ...(left_out.length > 0 ? describeLeftOut(left_out, vcs === 'subversion') : ['Everything is in a branch or a tag.']),
    `What was read is in ${target}, and the conversion starts from it. It has no branch and no tag of this run.`,
  ].join('\n')
}

/** Paths and revisions that no branch and no tag contains. Merges of Subversion are unknown until its contents are read. */
export function describeLeftOut(left: LeftOut[], beforeMerges = false): string[] {
  const rows = left.map(({ path, revisions: [first, last], count, reason }) => {
    const range = first === last ? `${first}` : `${first} to ${last}`
    return `  ${path || '/'}  (${range}; ${counted(count, 'change')}; ${beforeMerges && reason === 'deleted' ? 'deleted, unless it was merged' : reason})`
  })
  return left.length === 0 ? [] : ['No branch and no tag contains:', ...rows]
}

export function describeAuthors(missing: Author[], file: string): string {
  const names = shorten(missing.map(({ remote_name, remote_id }) => remote_name || remote_id))
  return `Warning: ${missing.length} ${missing.length === 1 ? 'author has' : 'authors have'} no entry in ${file}: ${names}.`
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : noun.endsWith('ch') ? 'es' : 's'}`

const row = ([name, value]: [string, string]) => `  ${name.padEnd(11)}${value}`

function listNames(refs: Record<string, string>, prefix: string): string {
  const names = Object.keys(refs).flatMap((ref) => (ref.startsWith(prefix) ? [ref.slice(prefix.length)] : []))
  return names.length === 0 ? '0' : `${names.length}: ${shorten(names)}`
}

function shorten(names: string[]): string {
  const rest = names.length - maxListed
  return names.slice(0, maxListed).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

function describeNotes(notes: Notes): string[] {
  const entries = Object.entries(notes)
  if (entries.length === 0) return []
  return ['Left out or changed:', ...entries.map(([what, count]) => `  ${what}: ${count}`)]
}

function describeProof(proof: Converted['verification']): string[] {
  const { branches, tags, revisions, files, mismatches, before_edits } = proof
  const parts = [counted(branches, 'branch'), counted(tags, 'tag'), counted(revisions, 'revision')]
  const when = before_edits ? ', before --include, --exclude and --since were applied' : ''
  const compared = `Compared ${parts.join(', ')} and ${counted(files, 'file')} with the source${when}`
  if (mismatches.length === 0) return [`${compared}: no differences.`]
  const listed = mismatches.map(({ where, path, what }) => `  ${[where, path].filter(Boolean).join(': ')} ${what}`)
  return [`${compared}. There are differences:`, ...listed]
}
