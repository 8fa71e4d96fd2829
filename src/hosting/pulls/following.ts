import { resolve } from 'node:path'
import { publish } from '#activity/publish.ts'
import { compare } from '#git/compare.ts'
import { bringObjects } from '#git/merge.ts'
import { findRef, holdsAll, noObject, typeOf } from '#git/objects.ts'
import { runGit, within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { touchIssue } from '#hosting/issues/issues.ts'
import { mayCopy } from '#hosting/repositories/crossing.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import { branchTip, countsOf, countsWith, refreshMergeability, writeCounts } from './mergeability.ts'
import { becomeMerged, closeBaseless } from './merged.ts'
import { loadPulls, type Pull, readPulls } from './pulls.ts'
import type { Caught } from './queue.ts'

/** A branch that was pushed, and its pusher. */
export interface Followed {
  repo_id: number
  branch: string
  before: string
  after: string
  pusher_id: number
}

/** Updates the pull requests of a pushed branch: a head has new commits, a base may contain the commits of a pull request. */
export async function followBranch(db: Database, storage: Storage, moved: Followed) {
  const { repo_id, branch } = moved
  const open = sql`pulls p join issues i on i.id = p.issue_id and i.state = 'open'`
  const coming = await readPulls(db, sql`${open} where p.head_repo_id = ${repo_id} and p.head_ref = ${branch} order by p.id`)
  for (const pull of coming) await followHead(db, storage, pull, { id: moved.pusher_id })
  const going = await readPulls(db, sql`${open} where p.repo_id = ${repo_id} and p.base_ref = ${branch} order by p.id`)
  if (going.length) await followBase(db, storage, going, moved)
}

/** Brings an open pull request to the commit that it was opened with. It publishes no notice, because opening did. */
export async function catchUpPull(db: Database, storage: Storage, { pull_id, before, head_sha, actor_id = 0 }: Caught) {
  const [pull] = await loadPulls(db, [pull_id])
  if (pull?.state !== 'open' || pull.head_sha !== before) return
  if (!(await mayFollow(db, pull, ...(actor_id ? [actor_id] : [])))) return keepOwn(storage, pull)
  await keepHead(storage, pull, head_sha)
  if (head_sha !== pull.head_sha) await moveHead(db, storage, pull, head_sha, { id: actor_id }, 'pull.caught_up')
}

/**
 * Whether new commits of the head may be copied into the base now. The author must have access, and so must any other user
 * who causes the copy. A pull request that may not follow its branch stays as it is, and can still be merged.
 */
export async function mayFollow(
  db: Queryable,
  { repo_id, head_repo_id, author }: Pick<Pull, 'repo_id' | 'head_repo_id' | 'author'>,
  ...others: number[]
): Promise<boolean> {
  return head_repo_id !== null && mayCopy(db, head_repo_id, repo_id, [author?.id ?? null, ...others])
}

const refOf = ({ number }: Pick<Pull, 'number'>) => `refs/pull/${number}/head`

/**
 * Takes the commit that the branch has now; a deleted branch changes nothing. Of concurrent jobs, the last one reads the branch
 * after all others. Access is checked after the commit is read, so that
 * a repository that becomes private in between keeps its new commits.
 */
async function followHead(db: Database, storage: Storage, { id }: Pull, pusher: { id: number }): Promise<Pull | undefined> {
  for (;;) {
    const [pull] = await loadPulls(db, [id])
    if (pull?.state !== 'open' || pull.head_repo_id === null) return pull
    const tip = await branchTip(storage, pull.head_repo_id, pull.head_ref)
    if (!(await mayFollow(db, pull))) {
      await keepOwn(storage, pull)
      return pull
    }
    await keepHead(storage, pull, tip ?? pull.head_sha)
    if (!tip || tip === pull.head_sha) return pull
    const moved = await moveHead(db, storage, pull, tip, pusher, 'pull.pushed')
    if (moved) await refreshMergeability(db, storage, { ...pull, head_sha: tip })
    // It was merged or closed in the meantime, so its commits at that time must be kept.
    else await keepOwn(storage, pull)
  }
}

/** Returns false when the pull request has changed since it was read. */
async function moveHead(
  db: Database,
  storage: Storage,
  pull: Pull,
  head_sha: string,
  mover: { id: number },
  act: 'pull.pushed' | 'pull.caught_up',
): Promise<boolean> {
  const counts = await countsWith(db, storage, pull, head_sha)
  return db.transaction(async (transaction) => {
    const repo_id = keptId({ id: pull.repo_id })
    const open = sql`select from issues where id = ${pull.issue_id} and repo_id = ${repo_id} and state = 'open' for no key update`
    if (!(await transaction.query(open)).rowCount) return false
    const { rowCount } = await transaction.query(
      sql`update pulls set head_sha = ${head_sha} where id = ${pull.id} and head_sha = ${pull.head_sha}`,
    )
    if (!rowCount) return false
    if (counts) await writeCounts(transaction, pull, counts)
    await touchIssue(transaction, { id: pull.issue_id })
    const facts = { issue_id: pull.issue_id, pull_id: pull.id, before: pull.head_sha, after: head_sha }
    await publish(transaction, mover, { id: pull.repo_id }, { act, ...facts })
    return true
  })
}

/** Keeps a commit that the base repository already has, without copying. */
const keepOwn = (storage: Storage, pull: Pull) => keepHead(storage, { ...pull, head_repo_id: null }, pull.head_sha)

/** The base repository keeps the commits of a pull request under `refs/pull/`, even if the branch is deleted. */
export async function keepHead(storage: Storage, pull: Pick<Pull, 'number' | 'repo_id' | 'head_repo_id'>, sha: string) {
  const { repo_id, head_repo_id } = pull
  if ((await findRef(storage, repo_id, refOf(pull)))?.sha === sha) return
  const has = async (id: number) => storage.has(id) && (await typeOf(storage, id, sha)) === 'commit'
  for (const id of new Set([head_repo_id ?? repo_id, repo_id])) {
    if (await has(id)) return bringObjects(storage, id, repo_id, sha, refOf(pull))
  }
}

async function followBase(
  db: Database,
  storage: Storage,
  pulls: Pull[],
  { repo_id, branch, before, after, pusher_id }: Followed,
) {
  const tip = await branchTip(storage, repo_id, branch)
  const pusher = { id: pusher_id }
  if (after === noObject) {
    // A branch that was created again is a base again.
    if (!tip) for (const pull of pulls) await db.transaction((transaction) => closeBaseless(transaction, pull, pusher))
    return
  }
  const contained = await listContained(storage, repo_id, before, after)
  for (const found of pulls.filter((each) => contained.get(refOf(each)) === each.head_sha)) {
    // The same push may have moved its head.
    const pull = await followHead(db, storage, found, pusher)
    if (pull?.state !== 'open' || !(await holdsAll(storage, repo_id, after, pull.head_sha))) continue
    const base_sha = before === noObject ? pull.base_sha : before
    const counts = countsOf(await compare(storage, repo_id, base_sha, pull.head_sha))
    await db.transaction((transaction) =>
      becomeMerged(transaction, { id: repo_id }, pull.id, pusher, { base_sha, sha: after, counts }),
    )
  }
  await db.query(sql`
    update pulls p set base_sha = ${tip ?? after} from issues i
    where i.id = p.issue_id and i.state = 'open' and p.repo_id = ${repo_id} and p.base_ref = ${branch} and p.base_sha <> ${tip ?? after}`)
}

const patience = 60_000

/** Heads of pull requests that a branch contains after this move, and did not before. */
async function listContained(storage: Storage, repo_id: number, before: string, after: string): Promise<Map<string, string>> {
  const since = before === noObject ? [] : [`--no-merged=${before}`]
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', `--merged=${after}`, ...since, 'refs/pull/']
  const { output } = await within(patience, (signal) => runGit(resolve(storage.pathOf(repo_id)), args, { signal }))
  return new Map([...output.toString().matchAll(/^(\w+) (.+)$/gm)].map(([, sha = '', name = '']) => [name, sha]))
}
