import { mkdtempDisposable, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkGit } from '#git/git.ts'
import { authorLine, correctionsFrom, parseAuthorsFile, withoutEntry } from '#importer/conversion/authors-file.ts'
import { type ConvertedProject, convertProjects, removeWork } from '#importer/conversion/convert-projects.ts'
import {
  type Conversion,
  convertRepository,
  listSourceAuthors,
  previewRepository,
} from '#importer/conversion/convert-repository.ts'
import { openSource } from '#importer/conversion/open-source.ts'
import { openTarget, openTargets } from '#importer/conversion/target.ts'
import { ImportFailure, type Kind } from '#importer/source.ts'
import type { Command, Terminal } from './command.ts'
import { advise, checkUsed } from './convert-advice.ts'
import { help, type Options, readOptions } from './convert-options.ts'
import { openStepProgress } from './convert-progress.ts'
import { checkPeople, type Remembered, recallOptions, rememberOptions } from './convert-remembered.ts'
import { describeAuthors, describeConversion, describePreview, describeProject, describeProjects } from './convert-report.ts'

export const command: Command = {
  help,
  async run(given, terminal) {
    const options = readOptions(given, terminal.environment)
    const signal = terminal.untilInterrupted()
    try {
      await checkGit()
      if (options.authors_missing) return await listMissing(options, terminal, signal)
      const recalled = await recallOptions(options, given, terminal.environment)
      return await convert(recalled.options, recalled.last, terminal, signal)
    } catch (error) {
      if (signal.aborted) terminal.warn('Interrupted. Run the same command again to resume.')
      else if (error instanceof ImportFailure) terminal.warn(advise(error, options))
      else if (isOfMachine(error)) terminal.warn(`The conversion cannot go on: ${error.message.replaceAll('\n', ' ')}`)
      else throw error
      return 1
    }
  },
}

/** An error of the system, such as a full disk, or of git. Any other is a bug, and its stack helps. */
const isOfMachine = (error: unknown): error is Error =>
  error instanceof Error && ('syscall' in error || /^git \S+ failed/.test(error.message))

async function convert(options: Options, last: Remembered | undefined, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { target, json, projects } = options
  const file = options.authors === null ? undefined : parseAuthorsFile(await readText(options.authors, 'The authors file'))
  await using opened = await (projects ? openTargets(target) : openTarget(target, options.default_branch))
  const { folder } = opened
  await using source = await openSource(options, join(folder, 'local'))
  const progress = openStepProgress(terminal.warn)
  let isDetected = false
  const onDetect = (vcs: Kind) => {
    checkUsed(options, vcs)
    isDetected = true
  }
  const common = { ...(await contextOf(options, folder)), ...source.detection, signal, onDetect, ...progress.listeners }
  try {
    if (options.dry_run) {
      const preview = { source: source.name, target, ...(await previewRepository({ ...common, source: source.name })) }
      progress.clear()
      terminal.print(json ? JSON.stringify(preview) : describePreview(preview))
      return 0
    }
    const started = terminal.clock.now()
    const { use_lfs, large_over, verify_all } = options
    const edits = { ...options.edits, source_id: options.metadata ? source.name : null }
    const conversion: Conversion = {
      ...{ ...common, target, source: source.name, edits, use_lfs, verify_all, keep_stage: !options.final },
      ...(large_over !== null && { large_over }),
      correct(authors) {
        const missing = file ? withoutEntry(file, authors) : []
        progress.clear()
        if (missing.length > 0) terminal.warn(describeAuthors(missing, options.authors ?? ''))
        checkPeople(target, last, file, authors)
        return file ? correctionsFrom(file, authors) : []
      },
    }
    const made: ConvertedProject[] = []
    const onProject = (project: ConvertedProject) => {
      made.push(project)
      progress.clear()
      if (!json) terminal.print(describeProject(project))
    }
    const result = projects
      ? { ...(await convertProjects({ ...conversion, onProject })), projects: made }
      : await convertRepository(conversion)
    progress.clear()
    await rememberOptions(folder, options, last, file, result.authors)
    const missing = file ? withoutEntry(file, result.authors).map(({ remote_name }) => remote_name) : []
    const seconds = (terminal.clock.now().getTime() - started.getTime()) / 1000
    const report = { source: source.name, target, seconds, ...result, authors_without_entry: missing }
    terminal.print(json ? JSON.stringify(report) : 'projects' in report ? describeProjects(report) : describeConversion(report))
    const compared = 'projects' in report ? report.projects : [report]
    const differs = compared.some((one) => 'verification' in one && one.verification.mismatches.length > 0)
    if (options.final && !differs) await (projects ? removeWork(target) : rm(folder, { recursive: true, force: true }))
    return differs ? 1 : 0
  } finally {
    progress.clear()
    // A wrong address or option leaves nothing behind.
    if (opened.isNew && !isDetected) await rm(target, { recursive: true, force: true })
  }
}

/** Reads little and keeps nothing. */
async function listMissing(options: Options, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const file = parseAuthorsFile(options.authors === null ? '' : await readText(options.authors, 'The authors file'))
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'belfry-authors-'))
  // The authors of all projects, unless one is chosen.
  const projects = options.projects || options.project === null
  await using source = await openSource({ ...options, projects }, join(temporary.path, 'local'))
  const progress = openStepProgress(terminal.warn)
  const authors = await listSourceAuthors({
    ...{ ...(await contextOf(options, temporary.path)), ...source.detection, signal, ...progress.listeners },
    onDetect: (vcs) => checkUsed(options, vcs),
  }).finally(progress.clear)
  const missing = withoutEntry(file, authors)
  if (options.json) terminal.print(JSON.stringify(missing))
  else for (const author of missing) terminal.print(authorLine(author))
  terminal.warn(`${missing.length} of ${authors.length} authors have no entry.`)
  return missing.length > 0 ? 1 : 0
}

async function readText(path: string, what: string) {
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new ImportFailure(`${what} cannot be read: ${error.message}.`)
  })
}

/** The user of the command line may connect to anything. */
async function contextOf({ default_branch, target, authorities }: Options, folder: string) {
  return {
    folder,
    default_branch,
    addresses: 'external, private, loopback',
    certificates: authorities === null ? null : await readText(authorities, 'The file of BELFRY_CA'),
    // Where git-lfs looks for the objects of a bare repository.
    lfs_store: join(target, 'lfs', 'objects'),
  }
}
