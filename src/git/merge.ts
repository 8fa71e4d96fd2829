import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { takeTimestamp } from '#platform/durable.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { findBoth, findMergeBase, readingOf } from './compare.ts'
import { syncObjects, syncRefs } from './fsync.ts'
import { type Conflict, joinTrees, type Merged, readTrees } from './merge-tree.ts'
import { noObject, typeOf } from './objects.ts'
import { rebase } from './rebase.ts'
import { isRefName } from './ref-names.ts'
import { runGit, within } from './run-git.ts'
import { type Scratch, withScratch } from './scratch.ts'
import type { Storage } from './storage.ts'

const mergePatience = 60_000
const askPatience = 10_000
const bringPatience = 600_000

export interface Merge {
  base: string
  head: string
  method: 'merge' | 'squash' | 'rebase'
  author: { name: string; email: string }
  committer: { name: string; email: string }
  at: Date
  /** The message of the merge commit. A rebase keeps the messages of its commits. */
  message: string
}

/**
 * Writes the commit of a merge and moves no branch: the caller pushes the commit. Returns `nothing` if the base has all changes, also for
 * a squash or rebase.
 */
export async function merge(storage: Storage, repo_id: number, asked: Merge): Promise<Merged> {
  const [base, head] = await findBoth(storage, repo_id, asked.base, asked.head)
  return within(mergePatience, (signal) =>
    withScratch(storage, repo_id, signal, async (scratch) => {
      const merge_base = await findMergeBase(readingOf(storage, repo_id, repo_id, signal), base, head)
      if (merge_base === head) return { nothing: true }
      if (merge_base === null) return { conflict: [], reason: 'unrelated' }
      const merged = await make(scratch, base, head, asked)
      if ('sha' in merged) await scratch.keep(merged.sha, [base, head])
      return merged
    }),
  )
}

async function make(scratch: Scratch, base: string, head: string, asked: Merge): Promise<Merged> {
  const committer = sign(asked.committer, asked.at)
  if (asked.method === 'rebase') return rebase(scratch, base, head, committer)
  const joined = await joinTrees(scratch, base, head)
  if ('conflict' in joined) return joined
  const { tree } = joined
  const squash = asked.method === 'squash'
  if (squash && tree === (await readTrees(scratch, [base]))[0]) return { nothing: true }
  const parents = squash ? [base] : [base, head]
  // Git would read a message only up to its first zero byte.
  const message = bytes(asked.message.replaceAll('\0', ''))
  return { sha: await scratch.write({ tree, parents, author: sign(asked.author, asked.at), committer, message }) }
}

function sign({ name, email }: { name: string; email: string }, at: Date) {
  return bytes(`${clean(name)} <${clean(email)}> ${Math.max(0, Math.floor(at.getTime() / 1000))} +0000`)
}

const clean = (text: string) => text.replaceAll(/[\p{Cc}<>]/gu, '')

const bytes = (text: string) => Buffer.from(text).toString('latin1')

export type Mergeable = { state: 'clean' | 'nothing' | 'unknown' } | ({ state: 'dirty' } & Conflict)

/** Whether a merge has no conflicts. Writes nothing to the repository. Returns `unknown` when `signal` aborts. */
export async function isMergeable(
  storage: Storage,
  repo_id: number,
  base_name: string,
  head_name: string,
  signal: AbortSignal = AbortSignal.timeout(askPatience),
): Promise<Mergeable> {
  const [base, head] = await findBoth(storage, repo_id, base_name, head_name)
  try {
    const merge_base = await findMergeBase(readingOf(storage, repo_id, repo_id, signal), base, head)
    if (merge_base === head) return { state: 'nothing' }
    if (merge_base === base) return { state: 'clean' }
    if (merge_base === null) return { state: 'dirty', conflict: [], reason: 'unrelated' }
    const joined = await withScratch(storage, repo_id, signal, (scratch) => joinTrees(scratch, base, head))
    return 'tree' in joined ? { state: 'clean' } : { state: 'dirty', ...joined }
  } catch (error) {
    if (signal.aborted) return { state: 'unknown' }
    throw error
  }
}

/**
 * Copies a commit with its history into another repository, under `refs/pull/…`, where pushes are refused. The ref may also move back.
 * Concurrent calls for one ref overwrite each other, so the caller serializes them.
 */
export async function bringObjects(storage: Storage, from_id: number, to_id: number, sha: string, ref: string): Promise<void> {
  if (!ref.startsWith('refs/pull/') || !isRefName(ref)) throw new Refusal('invalid', `${ref} is no ref of a pull request.`)
  if (!storage.has(from_id) || !storage.has(to_id)) throw missing()
  if (!/^[0-9a-f]{40}$/.test(sha) || (await typeOf(storage, from_id, sha)) !== 'commit') {
    throw new Refusal('missing', `No commit found for SHA: ${sha}`)
  }
  const [from, to] = [resolve(storage.pathOf(from_id)), resolve(storage.pathOf(to_id))]
  const settings = ['core.hooksPath=/dev/null', 'core.logAllRefUpdates=false']
  const configured = settings.flatMap((setting) => ['-c', setting])
  const since = takeTimestamp()
  await within(bringPatience, (signal) =>
    from_id === to_id
      ? runGit(to, [...configured, 'update-ref', '--end-of-options', ref, sha], { signal })
      : runGit(to, [...configured, 'fetch', ...fetching, '--end-of-options', from, `+${sha}:${ref}`], { signal }),
  )
  await syncObjects(to, since)
  await syncRefs(to, [ref], since)
}

const fetching = [
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  // Our settings do not reach the upload-pack process.
  `--upload-pack=git -c safe.directory='*' upload-pack`,
]

/** Fetches a commit of another repository under a temporary ref while `work` runs. */
export async function withCommits<T>(storage: Storage, from_id: number, to_id: number, sha: string, work: () => Promise<T>) {
  if (from_id === to_id) return work()
  const ref = `refs/pull/new/${randomUUID()}`
  await bringObjects(storage, from_id, to_id, sha, ref)
  try {
    return await work()
  } finally {
    await storage.moveRefs(to_id, [{ ref, before: sha, after: noObject }])
  }
}
