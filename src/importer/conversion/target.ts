import { existsSync } from 'node:fs'
import { access, constants, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { noObject } from '#git/objects.ts'
import { moveManyRefs } from '#git/packed-refs.ts'
import { ImportFailure, type Kind } from '#importer/source.ts'
import { stageGit } from '#importer/staging/git.ts'
import { readState, saveState, stateFile } from '#importer/state-file.ts'
import { identityOf } from '#platform/processes.ts'
import { quoteShell } from '#platform/quote-shell.ts'

/** Branches and tags by name, such as `refs/heads/main`. */
export type Refs = Record<string, string>

/** What a later run must know about the runs before. */
interface Converted {
  vcs: Kind
  source: string
  /** As of the end of the last run. */
  refs: Refs
  /** Set while refs are moved, because a run can be killed at any time. */
  moving?: Refs
}

export interface Moved {
  created: string[]
  updated: string[]
  removed: string[]
  /** How many commits are new. */
  commits: number
  /** Whether commits of an earlier run were replaced by others. */
  rewritten: boolean
}

const name = 'target'

/** The folder for checkpoints, in the repository, so that it is on the same disk and moves with it. */
export const workFolderOf = (target: string) => join(target, 'belfry-convert')

/** Makes the bare repository and its work folder. No two conversions write to it at a time. */
export async function openTarget(target: string, default_branch: string) {
  if (existsSync(target) && !existsSync(join(target, 'HEAD')))
    throw new ImportFailure(`${target} exists and is not a bare git repository. Name another folder.`)
  const init = ['init', '--quiet', '--bare', '--template=', `--initial-branch=${default_branch}`, target]
  return openWorkFolder(target, async () => void (await stageGit(init)))
}

/** Makes the folder for the repositories of several projects, and its work folder. */
export async function openTargets(target: string) {
  if (existsSync(join(target, 'HEAD')))
    throw new ImportFailure(`${target} is a git repository, but --projects needs a folder for several. Name another folder.`)
  return openWorkFolder(target, async () => {})
}

async function openWorkFolder(target: string, onNew: () => Promise<void>) {
  const folder = workFolderOf(target)
  const isNew = !existsSync(target)
  try {
    await mkdir(target, { recursive: true })
    if (isNew) await onNew()
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.W_OK)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new ImportFailure(`${target} cannot be written: ${error.message}. Name another folder, or change its permissions.`)
  }
  const lock = join(folder, 'lock')
  const holder = await readFile(lock, 'utf8').catch(() => '')
  const [pid = ''] = holder.split(' ')
  // A process that was killed may stay listed, and another may have its id by now.
  if (holder !== '' && Number(pid) !== process.pid && identityOf(Number(pid)) === holder)
    throw new ImportFailure(`Another conversion into ${target} is running, as process ${pid}. Wait until it ends.`)
  await rm(lock, { force: true })
  await using file = await open(lock, 'wx', 0o600)
  await file.write(identityOf(process.pid) ?? `${process.pid}`)
  return { folder, isNew, [Symbol.asyncDispose]: () => rm(lock, { force: true }) }
}

/** The repositories of several projects that earlier runs have made. */
export async function listTargets(target: string): Promise<string[]> {
  const found = (await readdir(target)).filter((each) => each.endsWith('.git'))
  return found.map((each) => join(target, each)).filter((path) => existsSync(stateFile(workFolderOf(path), name)))
}

/** Refuses to overwrite what others have committed, or another source's history. */
export async function checkUntouched(target: string, folder: string, source: { vcs: Kind; source: string }) {
  const before = await readState<Converted>(folder, name)
  const now = await readRefs(target)
  if (before && (before.vcs !== source.vcs || (before.vcs !== 'subversion' && before.source !== source.source)))
    throw new ImportFailure(`${target} was converted from ${before.source}. Name another folder for ${source.source}.`)
  const allowed = [before?.refs ?? {}, before?.moving ?? before?.refs ?? {}]
  const names = [...new Set([...allowed.flatMap(Object.keys), ...Object.keys(now)])].sort()
  const moved = names.filter((ref) => allowed.every((refs) => refs[ref] !== now[ref]))
  if (moved.length === 0) return checkObjects(target, now)
  const listed = moved.slice(0, 10).join(', ') + (moved.length > 10 ? ` and ${moved.length - 10} others` : '')
  const commands = moved.slice(0, 10).map((ref) => {
    const former = before?.refs[ref]
    return `  git -C ${quoteShell(target)} update-ref ${former === undefined ? `-d ${ref}` : `${ref} ${former}`}`
  })
  throw new ImportFailure(
    before
      ? `These refs of ${target} have moved since the last conversion: ${listed}. Bringing what is new would overwrite them. Convert into another folder, or set them back:\n${commands.join('\n')}`
      : `${target} has branches or tags of its own: ${listed}. Name a folder that does not exist yet.`,
  )
}

/** Later steps would fail without saying what to do. */
async function checkObjects(target: string, refs: Refs) {
  const asked = Object.entries(refs)
  if (asked.length === 0) return
  const input = asked.map(([, id]) => `${id}\n`).join('')
  const found = (await stageGit(['-C', target, 'cat-file', '--batch-check=%(objecttype)'], { input })).trim().split('\n')
  const missing = asked.flatMap(([ref], index) => (found[index]?.endsWith(' missing') ? [ref] : []))
  if (missing.length > 0)
    throw new ImportFailure(
      `${target} is damaged: it lacks objects of ${missing[0]}. Restore it, or convert into another folder.`,
    )
}

/** Sets exactly these branches and tags, and the default branch. */
export async function moveRefs(
  target: string,
  folder: string,
  { refs, default_branch, ...source }: { refs: Refs; default_branch: string | null; vcs: Kind; source: string },
): Promise<Moved> {
  const now = await readRefs(target)
  const before = (await readState<Converted>(folder, name))?.refs ?? {}
  await saveState<Converted>(folder, name, { ...source, refs: before, moving: refs })
  const names = [...new Set([...Object.keys(now), ...Object.keys(refs)])].sort()
  const commands = names.map((ref) => ({ ref, before: now[ref] ?? noObject, after: refs[ref] ?? noObject }))
  await moveManyRefs(
    target,
    commands.filter((command) => command.before !== command.after),
    { exclusive: true },
  )
  if (refs[`refs/heads/${default_branch}`]) await stageGit(['-C', target, 'symbolic-ref', 'HEAD', `refs/heads/${default_branch}`])
  await saveState<Converted>(folder, name, { ...source, refs })
  const [old, fresh] = [Object.values(before), Object.values(refs)]
  const [former, present, all] = await Promise.all([old, fresh, [...old, ...fresh]].map((ids) => countCommits(target, ids)))
  return {
    created: names.filter((ref) => !before[ref] && refs[ref]),
    updated: names.filter((ref) => before[ref] && refs[ref] && before[ref] !== refs[ref]),
    removed: names.filter((ref) => before[ref] && !refs[ref]),
    commits: (all ?? 0) - (former ?? 0),
    rewritten: all !== present,
  }
}

/** Without `--not`, which git answers by dates: it errs if a commit is older than its parents. */
async function countCommits(target: string, ids: string[]): Promise<number> {
  if (ids.length === 0) return 0
  return Number(await stageGit(['-C', target, 'rev-list', '--count', '--stdin'], { input: `${[...new Set(ids)].join('\n')}\n` }))
}

async function readRefs(target: string): Promise<Refs> {
  const listed = await stageGit(['-C', target, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/', 'refs/tags/'])
  return Object.fromEntries([...listed.matchAll(/^(\w+) (.+)$/gm)].map(([, id = '', ref = '']) => [ref, id]))
}
