import { link, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { noObject } from '#git/objects.ts'
import { moveManyRefs, removeStaleLock } from '#git/packed-refs.ts'
import { runGit } from '#git/run-git.ts'
import { makeFolders, syncFolder } from '#platform/durable.ts'
import { checkPacks } from './check-packs.ts'
import { stageLimit } from './git.ts'
import { measure } from './progress.ts'
import { leanOriginals, originalRefs } from './rewrite/prepare-refs.ts'

export interface PublishOptions {
  signal: AbortSignal
  /** The packs were written without good compression and are compressed again. */
  recompress: boolean
  /** A fetch has already checked the objects, and that none is missing. */
  walked: boolean
  /** Whether the target keeps the original refs, for later author corrections. */
  keep_originals?: boolean
  onProgress(push_percent: number): void
}

const stages = { 'Counting objects': [0, 20], 'Compressing objects': [20, 60], 'Writing objects': [60, 100] } as const

/** Streams large files instead of holding them in memory. */
const settings = ['core.bigFileThreshold=16m', 'pack.windowMemory=64m', 'pack.deltaCacheSize=64m'].flatMap((setting) => [
  '-c',
  setting,
])

/**
 * Copies all objects that the branches, tags and original refs need into the target, and sets the original refs there. Returns the branches
 * and tags for the caller to set. Can be repeated after a kill.
 */
export async function publish(
  repository: string,
  target: string,
  { signal, recompress, walked, keep_originals = true, onProgress }: PublishOptions,
): Promise<{ refs: Record<string, string> }> {
  const staged = await readRefs(repository, ['refs/heads/', 'refs/tags/', `${leanOriginals}/`, `${originalRefs}/`], signal)
  const refs = new Map([...staged].filter(([name]) => !name.startsWith('refs/import/')))
  const kept = keep_originals ? below(leanOriginals, staged) : new Map<string, string>()
  const tips = [...new Set([...refs.values(), ...kept.values()])]
  if (tips.length > 0) {
    // If nothing was rewritten, the packs can be linked.
    const compared = keep_originals ? [below('refs', refs), kept] : [below('refs', refs)]
    const unchanged = compared.every((some) => isSame(some, below(originalRefs, staged)))
    const check = async (folder: string, packs: string[]) => checkPacks(folder, packs, tips, signal)
    const linked = unchanged && !recompress && (await linkPacks(repository, target, walked ? undefined : check))
    // A target that has an earlier state of the source gets only what is new.
    const known = await findShared(repository, target, signal)
    const wanted = [...tips, ...known.map((id) => `^${id}`)]
    if (!linked) await check(target, await pack(repository, target, wanted, recompress, signal, onProgress))
    await syncFolder(join(target, 'objects', 'pack'))
    await checkConnected(target, linked && walked ? tips : wanted, linked && walked, signal)
  }
  await keepOriginals(target, kept, signal)
  onProgress(100)
  return { refs: Object.fromEntries(refs) }
}

/** The commits and tags of the target's refs that the stage has too. */
async function findShared(repository: string, target: string, signal: AbortSignal): Promise<string[]> {
  const there = await readRefs(target, ['refs/heads/', 'refs/tags/', `${originalRefs}/`], signal)
  if (there.size === 0) return []
  const input = `${[...new Set(there.values())].join('\n')}\n`
  const look = ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer']
  const { output } = await runGit(repository, look, { signal, input, detached: false, limit: stageLimit, whole: true })
  return [...output.toString().matchAll(/^(\w+) (?:commit|tag)$/gm)].map(([, id = '']) => id)
}

async function readRefs(repository: string, prefixes: string[], signal: AbortSignal): Promise<Map<string, string>> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes]
  const { output } = await runGit(repository, args, { signal, detached: false, limit: stageLimit, whole: true })
  return new Map([...output.toString().matchAll(/^(\w+) (.+)$/gm)].map(([, sha = '', name = '']) => [name, sha]))
}

/** The refs below a prefix, by the rest of their names: `heads/main`, `tags/v1`. */
function below(prefix: string, refs: Map<string, string>): Map<string, string> {
  const found = [...refs].filter(([name]) => name.startsWith(`${prefix}/`))
  return new Map(found.map(([name, sha]) => [name.slice(prefix.length + 1), sha]))
}

function isSame(some: Map<string, string>, others: Map<string, string>) {
  return some.size === others.size && [...some].every(([name, sha]) => others.get(name) === sha)
}

type Check = (folder: string, packs: string[]) => Promise<void>

/** Hard-links the packs. Not possible across disks, or if there are loose objects. */
async function linkPacks(repository: string, target: string, check: Check | undefined): Promise<boolean> {
  const loose = (await readdir(join(repository, 'objects'))).some((name) => /^[0-9a-f]{2}$/.test(name))
  if (loose) return false
  const [from, to] = [join(repository, 'objects', 'pack'), join(target, 'objects', 'pack')]
  await makeFolders(to)
  const names = (await readdir(from)).filter((name) => /^pack-[0-9a-f]{40}\.(pack|rev|idx)$/.test(name))
  const there = new Set(await readdir(to))
  const packs = names.filter((name) => name.endsWith('.pack') && !there.has(name.replace(/pack$/, 'idx')))
  await check?.(
    repository,
    packs.map((name) => join(resolve(from), name)),
  )
  // The index last, because git notices a pack by its index.
  for (const name of names.sort((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')))) {
    try {
      await link(join(from, name), join(to, name))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'EEXIST') continue
      if (code === 'EXDEV' || code === 'EPERM' || code === 'EMLINK' || code === 'ENOTSUP') return false
      throw error
    }
  }
  return true
}

/**
 * Git writes a pack under a temporary name in the stage and renames it when it is complete, so a kill leaves nothing in the target. Returns
 * the paths of the packs.
 */
async function pack(
  repository: string,
  target: string,
  tips: string[],
  recompress: boolean,
  signal: AbortSignal,
  onProgress: (percent: number) => void,
): Promise<string[]> {
  const name = join(resolve(target), 'objects', 'pack', 'pack')
  await makeFolders(join(target, 'objects', 'pack'))
  await removeDrafts(repository)
  const how = ['--revs', '--non-empty', '--progress', '--delta-base-offset', ...(recompress ? ['--no-reuse-object'] : [])]
  const { output } = await runGit(repository, [...settings, 'pack-objects', ...how, name], {
    signal,
    input: `${tips.join('\n')}\n`,
    detached: false,
    onText: measure(stages, (percent) => onProgress(Math.min(percent, 99))),
  })
  return [...output.toString().matchAll(/^[0-9a-f]{40}$/gm)].map(([id]) => `${name}-${id}.pack`)
}

async function removeDrafts(repository: string) {
  const folder = join(repository, 'objects', 'pack')
  const drafts = (await readdir(folder)).filter((name) => name.startsWith('tmp_'))
  for (const name of drafts) await rm(join(folder, name), { force: true })
}

/**
 * Fails if an object is missing. Packs that were walked before they were linked are only looked up, because a second walk would take as
 * long as everything else.
 */
async function checkConnected(target: string, tips: string[], walked: boolean, signal: AbortSignal) {
  const input = `${tips.join('\n')}\n`
  const walk = walked ? ['--no-walk'] : ['--objects']
  await runGit(target, ['rev-list', ...walk, '--quiet', '--stdin'], { signal, input, detached: false })
}

/** Hidden refs, from which author corrections start. */
async function keepOriginals(target: string, kept: Map<string, string>, signal: AbortSignal) {
  await removeLocks(target)
  const there = below(originalRefs, await readRefs(target, [`${originalRefs}/`], signal))
  const names = [...new Set([...there.keys(), ...kept.keys()])]
  const at = (refs: Map<string, string>, name: string) => refs.get(name) ?? noObject
  const commands = names.map((name) => ({ ref: `${originalRefs}/${name}`, before: at(there, name), after: at(kept, name) }))
  await moveManyRefs(
    target,
    commands.filter(({ before, after }) => before !== after),
    { exclusive: true },
  )
}

/** Removes the locks of a killed run. No other process writes these refs; others lock the packed refs only briefly. */
async function removeLocks(target: string) {
  await removeStaleLock(target)
  const folder = join(target, originalRefs)
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names.filter((name) => name.endsWith('.lock'))) await rm(join(folder, name), { force: true })
}
