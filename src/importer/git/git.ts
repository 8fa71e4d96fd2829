import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredObject } from '#git/lfs-store.ts'
import { runGit } from '#git/run-git.ts'
import {
  type Arranged,
  type Converted,
  ImportFailure,
  type Origin,
  type Source,
  type Verification,
  type Workshop,
} from '#importer/source.ts'
import type { Blob } from '#importer/staging/blobs.ts'
import { removeLeftovers } from '#importer/staging/fast-import.ts'
import { receiveHistory, syncPacks } from './fetch-history.ts'
import { explain, refused } from './git-errors.ts'
import { tellIdentities } from './identities.ts'
import { fetchLargeObjects } from './large-objects.ts'
import { findPlace, probe } from './probe.ts'
import { dropUnusable, type Listing, listRemote, readOriginals } from './refs.ts'
import { forgiven } from './remote-git.ts'
import { survey } from './scan-blobs.ts'

const mostMismatches = 100

/** What is known of a source whose history is here. */
interface Fetched extends Listing {
  url: string
  /** Refs that are left out. */
  dropped: string[]
  commit_count: number
  files: number
  large_blobs: Blob[]
  lfs_objects: StoredObject[]
}

export const git: Source = { probe, convert, arrange, verify }

async function convert(given: Origin, workshop: Workshop): Promise<Converted> {
  removeLeftovers(workshop.repository)
  const place = await findLocation(given, workshop)
  if (place === 'needs_auth') throw refused(given)
  if (place === 'nothing')
    throw new ImportFailure('There is no git repository at the address any more. Check it, then start again.')
  const origin = { ...given, url: place.url }
  const listing = await listRemote(origin, workshop)
  await receiveHistory(origin, workshop)
  const { dropped, notes } = await dropUnusable(workshop)
  if (place.dumb) await inspect(workshop)
  const looking = [tellIdentities(workshop), survey(workshop), syncPacks(workshop)] as const
  const [commit_count, { files, large, pointers }] = await Promise.all(looking)
  workshop.tell({ commit_count, percent: 90 })
  const lfs_objects = await fetchLargeObjects(origin, workshop, pointers, (part) => {
    workshop.tell({ percent: 90 + Math.floor(part * 10) })
  })
  if (lfs_objects.length < pointers.length)
    notes['large files that the source does not give'] = pointers.length - lfs_objects.length
  await remember(workshop, { ...listing, url: origin.url, dropped, commit_count, files, large_blobs: large, lfs_objects })
  workshop.tell({ percent: 100 })
  return { commit_count, notes, ...defaultOf(listing) }
}

/** A server that only gives out files was believed everything. */
async function inspect({ repository, signal }: Workshop) {
  const lenient = forgiven.flatMap((fault) => ['-c', `fsck.${fault}=ignore`])
  try {
    const bounds = { signal, detached: false }
    await runGit(repository, [...lenient, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress'], bounds)
  } catch (error) {
    signal.throwIfAborted()
    throw explain(error)
  }
}

/** Where the source names one that it does not have, nobody knows. */
function defaultOf({ default_branch, refs }: Listing) {
  return default_branch !== null && refs[`refs/heads/${default_branch}`] ? { default_branch } : {}
}

async function remember({ folder }: Workshop, fetched: Fetched) {
  await writeFile(join(folder, 'fetched.new'), JSON.stringify(fetched))
  await rename(join(folder, 'fetched.new'), join(folder, 'fetched.json'))
}

async function recall({ folder }: Workshop): Promise<Fetched> {
  return JSON.parse(await readFile(join(folder, 'fetched.json'), 'utf8'))
}

/** Branches and tags are what they were; the large files that came with them belong to them. */
async function arrange(_: Origin, workshop: Workshop): Promise<Arranged> {
  const { large_blobs, lfs_objects } = await recall(workshop)
  return { notes: {}, large_blobs, lfs_objects }
}

/**
 * The ids of commits are those of all that they hold: when branches and tags are at the same ids, and every object is there, then
 * all is as it is at the source. Git computed each object's id when it came, and made sure that none is missing before it set a ref. To
 * look at all revisions is to do both again.
 */
async function verify(given: Origin, workshop: Workshop, all: boolean): Promise<Verification> {
  const fetched = await recall(workshop)
  const [{ refs: now }, originals, broken] = await Promise.all([
    listRemote({ ...given, url: fetched.url }, workshop),
    readOriginals(workshop),
    all ? findBroken(workshop) : [],
  ])
  const here = new Map(originals.map(({ name, sha }) => [name, sha]))
  const dropped = new Set(fetched.dropped)
  const names = [...new Set([...Object.keys(now), ...here.keys()])].filter((name) => !dropped.has(name))
  // Who pushed to the source since then changed nothing about what there was.
  const moved = names.filter((where) => here.get(where) !== now[where] && here.get(where) !== fetched.refs[where])
  const mismatches = [...broken, ...moved.map((where) => ({ where, path: '', what: 'is not where the source has it' }))]
  return {
    branches: [...here.keys()].filter((name) => name.startsWith('refs/heads/')).length,
    tags: [...here.keys()].filter((name) => name.startsWith('refs/tags/')).length,
    revisions: fetched.commit_count,
    files: fetched.files,
    mismatches: mismatches.slice(0, mostMismatches),
  }
}

async function findBroken({ repository, signal }: Workshop): Promise<Verification['mismatches']> {
  try {
    await runGit(repository, ['fsck', '--full', '--no-dangling', '--no-progress'], { signal, detached: false })
    return []
  } catch (error) {
    signal.throwIfAborted()
    const words = error instanceof Error ? error.message : `${error}`
    return [{ where: '', path: '', what: `objects are missing or broken: ${words.slice(0, 300)}` }]
  }
}
