import { publish } from '#activity/publish.ts'
import { type Comparison, compare } from '#git/compare.ts'
import type { Storage } from '#git/storage.ts'
import { lockIssue } from '#hosting/issues/issues.ts'
import { checkMayEdit, mayPush } from '#hosting/issues/rights.ts'
import { checkTitle } from '#hosting/issues/update.ts'
import { recordReferences } from '#hosting/mentions/cross-references.ts'
import { settlePushes } from '#hosting/pushes/pushes.ts'
import { mayCopy } from '#hosting/repositories/crossing.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import { findInNetwork } from '#hosting/repositories/network.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid, Refusal } from '#platform/errors.ts'
import { keepHead } from './following.ts'
import { branchTip, countsOf } from './mergeability.ts'
import { loadPull, type Pull } from './pulls.ts'
import { enqueueCatchUp } from './queue.ts'
import { checkAlone } from './reopening.ts'

export interface NewPull {
  title?: string
  /** An issue that becomes a pull request. */
  issue?: number
  body?: string | null
  /** A branch, or `owner:branch` of another repository of the network. */
  head: string
  head_repo?: string
  base: string
  draft?: boolean
  maintainer_can_modify?: boolean
}

interface Ends {
  head: Repository
  head_ref: string
  head_sha: string
  base_ref: string
  base_sha: string
}

/** Compares with git first, then inserts the rows, then keeps the commits under a ref of their own. */
export async function createPull(
  db: Database,
  storage: Storage,
  viewer: Viewer,
  repo: Repository,
  author: Account,
  wanted: NewPull,
): Promise<Pull> {
  for (let attempts = 1; ; attempts++) {
    const ends = await findEnds(db, storage, viewer, repo, wanted)
    const { head, head_sha, base_ref } = ends
    if (!mayPush(head) && !mayPush(repo)) throw forbidden('Must have push access to the head or the base repository.')
    if (!(await mayCopy(db, head.id, repo.id, [author.id], viewer))) throw tooPrivate()
    const comparison = await compare(storage, repo.id, ends.base_sha, head_sha, head.id).catch((error) => {
      // The head repository was deleted while git read it.
      throw storage.has(head.id) ? error : invalid({ resource: 'PullRequest', code: 'invalid', field: 'head' })
    })
    checkWorthwhile(comparison, base_ref, labelOf(ends, repo))
    const number = await db.transaction(async (transaction) => {
      const settled = await lockEnds(transaction, repo, ends)
      return settled || attempts === most ? writePull(transaction, viewer, repo, author, wanted, ends, comparison) : undefined
    })
    if (number !== undefined) {
      await keepHead(storage, { number, repo_id: repo.id, head_repo_id: head.id }, head_sha)
      return loadPull(db, repo, number, viewer)
    }
    for (const id of new Set([repo.id, head.id])) await settlePushes(db, storage, id)
  }
}
const most = 4

async function findEnds(db: Queryable, storage: Storage, viewer: Viewer, repo: Repository, wanted: NewPull): Promise<Ends> {
  const [, owner = repo.owner_login, head_ref = ''] = /^(?:([^:]*):)?(.*)$/s.exec(wanted.head) ?? []
  const head = await findInNetwork(db, viewer, repo, owner, wanted.head_repo)
  const head_sha = head && (await branchTip(storage, head.id, head_ref))
  if (!head || !head_sha) throw invalid({ resource: 'PullRequest', code: 'invalid', field: 'head' })
  const base_sha = await branchTip(storage, repo.id, wanted.base)
  if (!base_sha) throw invalid({ resource: 'PullRequest', code: 'invalid', field: 'base' })
  return { head, head_ref, head_sha, base_ref: wanted.base, base_sha }
}

/** Undefined for a record that is missing or hidden. */
function nothing(error: unknown) {
  if (error instanceof Refusal) return undefined
  throw error
}

function tooPrivate() {
  const message =
    'The head repository is private: its commits can only go into a private repository. Make the head public, or the base private.'
  return invalid({ resource: 'PullRequest', code: 'custom', field: 'head', message })
}

const labelOf = ({ head, head_ref }: Ends, repo: Repository) =>
  head.id === repo.id ? head_ref : `${head.owner_login}:${head_ref}`

export function checkWorthwhile({ merge_base, ahead_by }: Comparison, base: string, head: string) {
  const refused = (message: string) => invalid({ resource: 'PullRequest', code: 'custom', message })
  if (!ahead_by) throw refused(`No commits between ${base} and ${head}`)
  if (!merge_base) throw refused(`The ${head} branch has no history in common with ${base}`)
}

/**
 * A push is recorded either before this lock, and then seen as a move of a branch that we compared; or after it, and then finds the pull
 * request. Returns whether both branches are still at the compared commits.
 */
async function lockEnds(
  db: Transaction,
  repo: Repository,
  { head, head_ref, head_sha, base_ref, base_sha }: Ends,
): Promise<boolean> {
  // A pull request that is made of an issue locks that, too.
  await db.query(sql`select from repositories where id in (${keptId(repo)}, ${head.id}) order by id for no key update`)
  const { rowCount } = await db.query(sql`
    select from refs b, refs h where b.repo_id = ${repo.id} and b.name = ${`refs/heads/${base_ref}`} and b.sha = ${base_sha}
      and h.repo_id = ${head.id} and h.name = ${`refs/heads/${head_ref}`} and h.sha = ${head_sha}`)
  return rowCount === 1
}

/** Returns its number. */
async function writePull(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  author: Account,
  wanted: NewPull,
  ends: Ends,
  comparison: Comparison,
): Promise<number> {
  const { head, head_ref, head_sha, base_ref, base_sha } = ends
  await checkAlone(db, { repo_id: repo.id, head_repo_id: head.id, head_ref, base_ref }, head.owner_login)
  const issue = await (wanted.issue === undefined
    ? writeIssue(db, repo, author, wanted)
    : takeIssue(db, repo, author, wanted.issue))
  const { commits, additions, deletions, changed_files } = countsOf(comparison)
  const pull = await db.load<{ id: number }>(sql`
    insert into pulls (issue_id, repo_id, head_repo_id, head_owner_id, head_ref, head_sha, base_ref, base_sha, draft,
      maintainer_can_modify, commits, additions, deletions, changed_files)
    values (${issue.id}, ${repo.id}, ${head.id}, ${head.owner_id}, ${head_ref}, ${head_sha}, ${base_ref}, ${base_sha},
      ${wanted.draft ?? false}, ${(wanted.maintainer_can_modify ?? false) && mayPush(head)}, ${commits}, ${additions}, ${deletions}, ${changed_files})
    returning id`)
  await enqueueCatchUp(db, { pull_id: pull.id, before: head_sha, head_sha })
  await publish(db, author, repo, { act: 'pull.opened', issue_id: issue.id, pull_id: pull.id, body: issue.body })
  await recordReferences(db, viewer, repo, author, { issue_id: issue.id }, issue.body)
  return issue.number
}

interface Written {
  id: number
  number: number
  body: string | null
}

async function writeIssue(db: Transaction, repo: Repository, author: Account, { title = '', body = null }: NewPull) {
  return db.load<Written>(sql`
    with taken as (
      update repositories set last_issue_number = last_issue_number + 1 where id = ${repo.id} returning last_issue_number as number)
    insert into issues (repo_id, number, author_id, title, body, created_at, updated_at)
    select ${repo.id}, number, ${author.id}, ${checkTitle(title, 'PullRequest')}, ${body}, ${db.now}, ${db.now} from taken
    returning id, number, body`)
}

async function takeIssue(db: Transaction, repo: Repository, author: Account, number: number): Promise<Written> {
  const issue = await lockIssue(db, repo, number).catch(nothing)
  if (!issue || issue.pull_id !== null || issue.state !== 'open')
    throw invalid({ resource: 'PullRequest', code: 'invalid', field: 'issue' })
  checkMayEdit(repo, author, issue.author)
  return issue
}
