import { runGit, streamGit } from '#git/run-git.ts'
import {
  type Arranged,
  type Author,
  type Converted,
  ImportFailure,
  type Origin,
  type Source,
  type Verification,
  type Workspace,
} from '#importer/source.ts'
import { type Blob, findBlobs, lines } from '#importer/staging/blobs.ts'
import { toleratedFaults } from '#importer/staging/check-packs.ts'
import { removeLeftovers } from '#importer/staging/fast-import.ts'
import { largeFile } from '#importer/staging/large-files.ts'
import { readState, saveState } from '#importer/state-file.ts'
import type { StoredObject } from '#platform/file-store/file-store.ts'
import { fetchHistory, syncPacks } from './fetch-history.ts'
import { authFailure, explain } from './git-errors.ts'
import { fetchLargeObjects } from './large-objects.ts'
import { findRepository, probe } from './probe.ts'
import { dropUnusable, type Listing, listRemote, prefix, readOriginals } from './refs.ts'

const maxMismatches = 100

interface Fetched extends Listing {
  url: string
  /** Refs that were left out. */
  dropped: string[]
  commit_count: number
  files: number
  large_blobs: Blob[]
  lfs_objects: StoredObject[]
}

export const git: Source = { probe, convert, arrange, verify }

async function convert(given: Origin, workspace: Workspace): Promise<Converted> {
  removeLeftovers(workspace.repository)
  const remote = await findRepository(given, workspace)
  if (remote === 'needs_auth') throw authFailure(given)
  if (remote === 'nothing')
    throw new ImportFailure('There is no longer a git repository at this address. Check the address, then restart the import.')
  const origin = { ...given, url: remote.url }
  const listing = await listRemote(origin, workspace)
  await fetchHistory(origin, workspace)
  const { dropped, notes } = await dropUnusable(workspace)
  if (remote.dumb) await checkObjects(workspace)
  const scans = [collectIdentities(workspace), scanBlobs(workspace), syncPacks(workspace)] as const
  const [commit_count, { files, large, pointers }] = await Promise.all(scans)
  workspace.onProgress({ commit_count, percent: 90 })
  const lfs_objects = await fetchLargeObjects(origin, workspace, pointers, (part) => {
    workspace.onProgress({ percent: 90 + Math.floor(part * 10) })
  })
  if (lfs_objects.length < pointers.length)
    notes['large files that the source does not give'] = pointers.length - lfs_objects.length
  await saveState<Fetched>(workspace.folder, 'fetched', {
    ...listing,
    url: origin.url,
    dropped,
    commit_count,
    files,
    large_blobs: large,
    lfs_objects,
  })
  workspace.onProgress({ percent: 100 })
  return { commit_count, notes, ...defaultOf(listing) }
}

/** A dumb HTTP server does not check the objects that it sends. */
async function checkObjects({ repository, signal }: Workspace) {
  const lenient = toleratedFaults.flatMap((fault) => ['-c', `fsck.${fault}=ignore`])
  try {
    const bounds = { signal, detached: false }
    await runGit(repository, [...lenient, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress'], bounds)
  } catch (error) {
    signal.throwIfAborted()
    throw explain(error)
  }
}

/** Unknown if the source names a branch that it does not have. */
function defaultOf({ default_branch, refs }: Listing) {
  return default_branch !== null && refs[`refs/heads/${default_branch}`] ? { default_branch } : {}
}

async function readFetched({ folder }: Workspace): Promise<Fetched> {
  const fetched = await readState<Fetched>(folder, 'fetched')
  if (!fetched) throw new Error('nothing was fetched yet')
  return fetched
}

/** Branches and tags are unchanged; the LFS objects come with them. */
async function arrange(_: Origin, workspace: Workspace): Promise<Arranged> {
  const { large_blobs, lfs_objects } = await readFetched(workspace)
  return { notes: {}, large_blobs, lfs_objects }
}

/**
 * A commit's id covers everything in it. If branches and tags have the same ids and no object is missing, the history is the same as at the
 * source. Git computed the id of each object on arrival, and checked that none is missing before it set a ref. With `all`, both are checked
 * again.
 */
async function verify(given: Origin, workspace: Workspace, all: boolean): Promise<Verification> {
  const fetched = await readFetched(workspace)
  const [{ refs: now }, originalRefs, broken] = await Promise.all([
    listRemote({ ...given, url: fetched.url }, workspace),
    readOriginals(workspace),
    all ? findBroken(workspace) : [],
  ])
  const here = new Map(originalRefs.map(({ name, sha }) => [name, sha]))
  const dropped = new Set(fetched.dropped)
  const names = [...new Set([...Object.keys(now), ...here.keys()])].filter((name) => !dropped.has(name))
  // A later push to the source is not a mismatch.
  const moved = names.filter((where) => here.get(where) !== now[where] && here.get(where) !== fetched.refs[where])
  const mismatches = [...broken, ...moved.map((where) => ({ where, path: '', what: 'is at another commit than in the source' }))]
  return {
    branches: [...here.keys()].filter((name) => name.startsWith('refs/heads/')).length,
    tags: [...here.keys()].filter((name) => name.startsWith('refs/tags/')).length,
    revisions: fetched.commit_count,
    files: fetched.files,
    mismatches: mismatches.slice(0, maxMismatches),
  }
}

async function findBroken({ repository, signal }: Workspace): Promise<Verification['mismatches']> {
  try {
    await runGit(repository, ['fsck', '--full', '--no-dangling', '--no-progress'], { signal, detached: false })
    return []
  } catch (error) {
    signal.throwIfAborted()
    const words = error instanceof Error ? error.message : `${error}`
    return [{ where: '', path: '', what: `objects are missing or damaged: ${words.slice(0, 300)}` }]
  }
}

const batch = 500
/** In bytes. A longer identity cannot be corrected. */
const longest = 1000

/** Reports the identities of commits and tags as they are found. Returns the number of commits. */
async function collectIdentities({ repository, signal, onProgress }: Workspace): Promise<number> {
  const seen = new Set<string>()
  let found: Author[] = []
  /** A line has the name, a zero byte and the email. Most lines were seen before and are not decoded. */
  const take = (line: string) => {
    if (seen.has(line) || line.length > longest) return
    seen.add(line)
    const [name = '', email = ''] = Buffer.from(line, 'latin1').toString().split('\0')
    found.push({ remote_id: `${name} <${email}>`.trim(), remote_name: name, name, email })
    if (found.length < batch) return
    onProgress({ authors: found })
    found = []
  }
  let written = 0
  // Without re-encoding, because a correction compares the bytes of the commits.
  const log = ['log', '--encoding=none', '--format=%an%x00%ae%n%cn%x00%ce', `--glob=${prefix}`]
  for await (const group of lines(streamGit(repository, log, { signal, detached: false }))) {
    written += group.length
    group.forEach(take)
  }
  const tags = ['for-each-ref', '--format=%(taggername)%00%(taggeremail:trim)', `${prefix}tags`]
  for await (const group of lines(streamGit(repository, tags, { signal, detached: false }))) {
    // A lightweight tag has no tagger.
    for (const line of group) if (line !== '\0') take(line)
  }
  if (found.length > 0) onProgress({ authors: found })
  return written / 2
}

/** The sizes of LFS pointers without extensions, in bytes. */
const mayPoint = (size: number) => size >= 120 && size <= 150

interface BlobScan {
  /** The number of distinct contents. */
  files: number
  large: Blob[]
  /** The LFS objects that pointers refer to. */
  pointers: StoredObject[]
}

/** One pass for both, because reading the sizes of all blobs takes long. */
async function scanBlobs({ repository, signal }: Workspace): Promise<BlobScan> {
  const { count, found } = await findBlobs(repository, (size) => size > largeFile || mayPoint(size), signal)
  const candidates = found.filter(({ size }) => mayPoint(size)).map(({ id }) => id)
  return {
    files: count,
    large: found.filter(({ size }) => size > largeFile),
    pointers: candidates.length > 0 ? await readPointers(repository, candidates, signal) : [],
  }
}

async function readPointers(repository: string, candidates: string[], signal: AbortSignal): Promise<StoredObject[]> {
  const found = new Map<string, number>()
  const input = `${candidates.join('\n')}\n`
  const contents = streamGit(repository, ['cat-file', '--batch=', '--buffer'], { signal, input, detached: false })
  // The three lines of a pointer are consecutive and occur nowhere else.
  let recent = ['', '']
  for await (const group of lines(contents)) {
    for (const line of group) {
      const [, oid, size] = line.startsWith('size ') ? (pointer.exec(`${recent.join('\n')}\n${line}`) ?? []) : []
      if (oid && size) found.set(oid, Number(size))
      recent = [recent[1] ?? '', line]
    }
  }
  return [...found].map(([oid, size]) => ({ oid, size }))
}

const pointer = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,15})$/
