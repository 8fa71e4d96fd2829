import type { ConvertedProject, convertProjects } from '#importer/conversion/convert-projects.ts'
import type { convertRepository, previewRepository } from '#importer/conversion/convert-repository.ts'
import type { Notes } from '#importer/notes.ts'
import type { Author, LeftOut, Remark } from '#importer/source.ts'

type Converted = Awaited<ReturnType<typeof convertRepository>>
type Preview = Awaited<ReturnType<typeof previewRepository>>

interface Report extends Converted {
  source: string
  target: string
  seconds: number
  authors_without_entry: string[]
}

interface ProjectsReport extends Awaited<ReturnType<typeof convertProjects>> {
  source: string
  target: string
  seconds: number
  projects: ConvertedProject[]
}

const maxListed = 20

export function describeConversion(report: Report): string {
  const { source, target, vcs, authors, seconds } = report
  return [
    `Converted ${source} (${vcs}) into ${target} in ${seconds.toFixed(1)} s.`,
    ...describeRefs(report),
    row(['Revisions', `${report.commit_count} in the source`]),
    row(['Authors', `${authors.length}`]),
    ...describeChanges(report),
  ].join('\n')
}

/** The report of one of several projects. */
export function describeProject(project: ConvertedProject): string {
  const { path, target, rest } = project
  if (!('moved' in project)) return `${path} is no longer in the source. ${target} stays as it is.`
  const what = rest ? 'What belongs to no project' : path
  const nothing = project.nothing_left
    ? ['  No branch is left with these --include, --exclude and --since, so nothing was written.']
    : []
  return [`${what}: ${target}`, ...describeRefs(project), ...nothing, ...describeChanges(project)].join('\n')
}

/** The report of all projects, after those of each. */
export function describeProjects({ source, target, seconds, vcs, projects, ...report }: ProjectsReport): string {
  const made = projects.filter((project) => 'moved' in project)
  const differing = made.filter(({ verification }) => verification.mismatches.length > 0).map(({ target }) => target)
  return [
    `Converted ${source} (${vcs}) into ${counted(made.length, 'repository')} in ${target} in ${seconds.toFixed(1)} s.`,
    row(['Revisions', `${report.commit_count} in the source`]),
    row(['Authors', `${report.authors.length}`]),
    ...describeNotes(report.notes),
    ...describeRemarks(report.remarks),
    differing.length === 0 ? 'None of them differs from the source.' : `There are differences in ${shorten(differing)}.`,
  ].join('\n')
}

type Published = Pick<Converted, 'refs' | 'moved' | 'notes' | 'remarks' | 'verification' | 'dropped' | 'large_files' | 'left_out'>

function describeRefs({ refs, moved }: Published): string[] {
  const { created, updated, removed, commits } = moved
  const changed = created.length + updated.length + removed.length
  const rows: [string, string][] = [
    ['Branches', listNames(refs, 'refs/heads/')],
    ['Tags', listNames(refs, 'refs/tags/')],
    ['Commits', changed === 0 ? 'nothing new' : `${commits} new`],
  ]
  return rows.map(row)
}

function describeChanges({ refs, moved, notes, remarks, verification, dropped, large_files, left_out }: Published): string[] {
  const { created, updated, removed, rewritten } = moved
  const rows: [string, string][] = []
  if (created.length > 0 && created.length < Object.keys(refs).length) rows.push(['Created', shorten(created)])
  if (updated.length > 0) rows.push(['Updated', shorten(updated)])
  if (removed.length > 0) rows.push(['Removed', shorten(removed)])
  if (rewritten) rows.push(['Rewritten', 'yes: commits of an earlier run were replaced, so clones of them must be made again'])
  if (large_files.length > 0) rows.push(['LFS', counted(large_files.length, 'large file')])
  if (dropped.length > 0) rows.push(['Left out', `${shorten(dropped)}: without commits after --since or with these files`])
  return [
    ...rows.map(row),
    ...describeNotes(notes),
    ...describeRemarks(remarks),
    ...describeLeftOut(left_out),
    ...describeProof(verification),
  ]
}

export function describePreview(preview: Preview & { source: string; target: string }): string {
  const { source, target, vcs, commit_count, branches, tags, left_out, authors, parts, likely_projects } = preview
  const what = parts
    ? counted(parts.filter(({ gone, empty, rest }) => !gone && !(rest && empty)).length, 'repository')
    : `${counted(branches.length, 'branch')}, ${counted(tags.length, 'tag')}`
  return [
    `${source} (${vcs}): ${counted(commit_count, 'revision')}, ${what}. Nothing was converted.`,
    ...(parts ? parts.flatMap(describePart) : listRefs(branches, tags)),
    ...(authors ? [`${counted(authors.length, 'author')}: ${shorten(authors.map(({ remote_name }) => remote_name))}`] : []),
    ...(left_out.length > 0 ? describeLeftOut(left_out) : ['Everything is in a branch or a tag.']),
    ...(likely_projects
      ? [
          `The trunk has folders and no files: ${shorten(likely_projects)}. If they are separate projects, --projects makes a repository of each.`,
        ]
      : []),
    vcs === 'tfvc'
      ? `Only lists of changes were read, and they are not kept. ${target} has no branch and no tag of this run.`
      : `What was read is in ${target}, and the conversion starts from it. It has no branch and no tag of this run.`,
  ].join('\n')
}

function describePart({
  name,
  path,
  rest,
  gone,
  empty,
  commit_count,
  branches,
  tags,
}: NonNullable<Preview['parts']>[number]): string[] {
  if (gone) return [`${name}.git: ${path} is no longer in the source, so the repository stays as it is`]
  if (rest && empty) return []
  const what = rest ? 'what belongs to no project' : path
  return [`${name}.git: ${what}, ${counted(commit_count, 'revision')}`, ...listRefs(branches, tags)]
}

function listRefs(branches: Preview['branches'], tags: Preview['tags']): string[] {
  const width = Math.max(...[...branches, ...tags].map(({ name }) => name.length), 0) + 2
  const line = (kind: string) => (ref: { name: string; path: string | null }) =>
    `  ${kind}  ${ref.path === null ? ref.name : `${ref.name.padEnd(width)}${ref.path || '/'}`}`
  return [...branches.map(line('branch')), ...tags.map(line('tag   '))]
}

/** Paths and revisions that no branch and no tag contains. */
export function describeLeftOut(left: LeftOut[]): string[] {
  const rows = left.map(({ path, revisions: [first, last], count, reason }) => {
    const range = first === last ? `${first}` : `${first} to ${last}`
    return `  ${path || '/'}  (${range}; ${counted(count, 'change')}; ${reason})`
  })
  return left.length === 0 ? [] : ['No branch and no tag contains:', ...rows]
}

export function describeAuthors(missing: Author[], file: string): string {
  const names = shorten(missing.map(({ remote_name, remote_id }) => remote_name || remote_id))
  return `Warning: ${missing.length} ${missing.length === 1 ? 'author has' : 'authors have'} no entry in ${file}: ${names}.`
}

const plurals: Record<string, string> = { branch: 'branches', repository: 'repositories' }
const counted = (count: number, noun: string) => `${count} ${count === 1 ? noun : (plurals[noun] ?? `${noun}s`)}`

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

function describeRemarks(remarks: Remark[]): string[] {
  if (remarks.length === 0) return []
  const rows = remarks.map(({ what, path, text, revision }) => {
    const when = revision === undefined ? '' : ` (revision ${revision})`
    return `  ${what}: ${path || '/'}${when}${text
      .split('\n')
      .map((line) => (line === '' ? '' : `\n    ${line}`))
      .join('')}`
  })
  return ['Without an equivalent in git, for your attention:', ...rows]
}

function describeProof(proof: Converted['verification']): string[] {
  const { branches, tags, revisions, files, mismatches, edited } = proof
  const parts = [counted(branches, 'branch'), counted(tags, 'tag'), counted(revisions, 'revision')]
  const when = edited === undefined ? '' : `, and ${counted(edited, 'commit')} with what the options ask for`
  const compared = `Compared ${parts.join(', ')} and ${counted(files, 'file')} with the source${when}`
  if (mismatches.length === 0) return [`${compared}: no differences.`]
  const listed = mismatches.map(({ where, path, what }) => `  ${[where, path].filter(Boolean).join(': ')} ${what}`)
  return [`${compared}. There are differences:`, ...listed]
}
