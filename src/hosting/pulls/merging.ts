import { merge } from '#git/merge.ts'
import type { Storage } from '#git/storage.ts'
import { findMergeRefusals } from '#hosting/protection/merge-rules.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf } from '#hosting/repositories/contents.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Account, loadAccount } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { mayFollow } from './following.ts'
import { branchTip, comparePull, refreshMergeability } from './mergeability.ts'
import { loadPull, type Pull } from './pulls.ts'
import { enqueueCurrent } from './queue.ts'

export type MergeMethod = 'merge' | 'squash' | 'rebase'

export interface MergeRequest {
  commit_title?: string
  commit_message?: string
  /** The expected head, so that a client merges only commits that it has seen. */
  sha?: string
  merge_method?: MergeMethod
}

const notMergeable = 'Pull Request is not mergeable'
const notAllowed = (message: string) => new Refusal('not_allowed', message)
const moved = (which: 'Head' | 'Base') => new Refusal('conflict', `${which} branch was modified. Review and try the merge again.`)

/** Creates the commits, and moves the base from the exact commit that they were created for, so that no concurrent push is lost. */
export async function mergePull(
  db: Database,
  storage: Storage,
  repo: Repository,
  merger: Account,
  number: number,
  asked: MergeRequest,
): Promise<{ sha: string }> {
  const pull = await loadPull(db, repo, number)
  const method = asked.merge_method ?? 'merge'
  if (pull.state === 'closed') throw notAllowed(notMergeable)
  if (asked.sha !== undefined && asked.sha !== pull.head_sha) throw moved('Head')
  await checkCaughtUp(db, storage, pull, merger)
  const base = await branchTip(storage, repo.id, pull.base_ref)
  if (!base) throw notAllowed(notMergeable)
  const { mergeable_state } = await refreshMergeability(db, storage, pull)
  checkReasons([
    ...refuseMethod(pull, repo, method),
    ...(await findMergeRefusals(db, storage, repo, merger, pull, base, method)),
    ...(mergeable_state === 'dirty' ? [notMergeable] : []),
  ])
  const author = method === 'squash' && pull.author ? await loadAccount(db, pull.author.login) : merger
  const message = await messageOf(storage, pull, method, asked)
  const people = { author: authorOf(author), committer: authorOf(merger) }
  const merged = await merge(storage, repo.id, { base, head: pull.head_sha, method, ...people, at: db.now, message })
  if (!('sha' in merged)) throw notAllowed(notMergeable)
  const command = { ref: `refs/heads/${pull.base_ref}`, before: base, after: merged.sha, merges: pull.id }
  await pushRefs(db, storage, repo, merger, [command]).catch((error) => {
    throw error instanceof Refusal && error.reason === 'conflict' ? moved('Base') : error
  })
  return merged
}

/**
 * Refuses to merge until the pull request has the latest commits of its branch, and enqueues the job that brings them. One that
 * cannot follow its branch now is merged as it is.
 */
async function checkCaughtUp(db: Database, storage: Storage, pull: Pull, { id: pusher_id }: Account) {
  const { head_repo_id: repo_id, head_ref: branch, head_sha } = pull
  const tip = repo_id !== null && (await branchTip(storage, repo_id, branch))
  if (!tip || tip === head_sha || !(await mayFollow(db, pull))) return
  await db.transaction((transaction) => enqueueCurrent(transaction, { repo_id, branch, pusher_id }))
  throw moved('Head')
}

const forbiddenMethods = {
  merge: 'Merge commits are not allowed on this repository.',
  squash: 'Squash merges are not allowed on this repository.',
  rebase: 'Rebase merges are not allowed on this repository.',
}

function refuseMethod({ draft }: Pull, repo: Repository, method: MergeMethod): string[] {
  const { allow_merge_commit: merge, allow_squash_merge: squash, allow_rebase_merge: rebase } = repo
  return [
    ...(draft ? ['Pull Request is still a draft'] : []),
    ...({ merge, squash, rebase }[method] ? [] : [forbiddenMethods[method]]),
  ]
}

/** Refuses with all reasons, so that a user does not find them one after the other. A single one is in the words of the public API. */
function checkReasons(reasons: string[]) {
  const [first] = reasons
  if (!first) return
  const named = reasons.map((reason) => (reason === notMergeable ? 'The branch has conflicts with the base branch' : reason))
  throw notAllowed(reasons.length === 1 ? first : named.map((reason) => reason.replace(/\.?$/, '.')).join(' '))
}

/** The usual message of such commits, unless the request gives another. */
async function messageOf(storage: Storage, pull: Pull, method: MergeMethod, asked: MergeRequest): Promise<string> {
  const given = asked.commit_title && asked.commit_message !== undefined
  const usual = given ? { title: '', text: '' } : await usualMessage(storage, pull, method)
  const title = asked.commit_title || usual.title
  const text = asked.commit_message ?? usual.text
  return text.trim() === '' ? `${title}\n` : `${title}\n\n${text.trimEnd()}\n`
}

/** A rebase keeps the messages of its commits, so that this one is not used. */
export async function usualMessage(storage: Storage, pull: Pull, method: MergeMethod): Promise<{ title: string; text: string }> {
  return method === 'squash' ? squashWords(storage, pull) : mergeWords(pull)
}

function mergeWords({ number, title, head_owner, head_ref }: Pull) {
  return { title: `Merge pull request #${number} from ${head_owner?.login ?? 'ghost'}/${head_ref}`, text: title }
}

async function squashWords(storage: Storage, pull: Pull) {
  const { commits } = await comparePull(storage, pull)
  const [first] = commits
  if (commits.length === 1 && first) {
    const [title = pull.title, ...rest] = first.message.split('\n')
    return { title: `${title} (#${pull.number})`, text: rest.join('\n').trim() }
  }
  return { title: `${pull.title} (#${pull.number})`, text: commits.map(({ message }) => `* ${message.trim()}`).join('\n\n') }
}
