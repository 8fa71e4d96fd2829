import type { Facts } from '#activity/facts.ts'
import { hasSubscribers } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { branchesWith, readCommit, resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { personOf } from '#hosting/issues/authors.ts'
import { protectedAmong } from '#hosting/protection/protected-branches.ts'
import { findAuthors } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { isWebAddress } from '#platform/web-address.ts'

export type StatusState = 'error' | 'failure' | 'pending' | 'success'

export interface Status {
  id: number
  sha: string
  context: string
  state: StatusState
  description: string | null
  target_url: string | null
  creator: Person | null
  created_at: Date
  updated_at: Date
}

const columns = sql`s.id, s.sha, s.context, s.state, s.description, s.target_url, s.created_at, s.updated_at,
  ${personOf(sql`s.creator_id`)} as creator`

/** Statuses by id, without a check of access: the caller has checked it. */
export function loadStatuses(db: Queryable, ids: number[]): Promise<Status[]> {
  return db.rows(sql`select ${columns} from commit_statuses s where s.id = any(${ids})`)
}

/** All statuses of a commit, newest first. */
export function listStatuses(db: Queryable, repo: Repository, sha: string, slice: Slice): Promise<Listed<Status>> {
  const source = sql`commit_statuses s where s.repo_id = ${repo.id} and s.sha = ${sha}`
  return listed(db, { columns, source, order: sql`s.id desc` }, slice)
}

export interface CombinedStatus {
  state: 'failure' | 'pending' | 'success'
  sha: string
  /** The number of contexts. */
  total_count: number
  /** A page of the last statuses of the contexts, oldest first. */
  statuses: Status[]
}

export async function loadCombinedStatus(db: Queryable, repo: Repository, sha: string, slice: Slice): Promise<CombinedStatus> {
  const of = sql`t.repo_id = ${repo.id} and t.sha = ${sha}`
  const source = sql`status_contexts t join commit_statuses s on s.id = t.status_id where ${of}`
  const counted = sql`status_contexts t where ${of}`
  const { rows: statuses } = await listed<Status>(db, { columns, source, counted, order: sql`t.status_id` }, slice)
  const { total_count, failed, succeeded } = await db.load<{ total_count: number; failed: number; succeeded: number }>(sql`
    select count(*) as total_count, count(*) filter (where t.state in ('error', 'failure')) as failed,
      count(*) filter (where t.state = 'success') as succeeded
    from ${counted}`)
  const state = failed ? 'failure' : total_count && succeeded === total_count ? 'success' : 'pending'
  return { state, sha, total_count, statuses }
}

export interface NewStatus {
  state: StatusState
  context: string
  description: string | null
  target_url: string | null
}

/** The documented limit of the statuses of a context. */
const mostStatuses = 1000

export async function createStatus(
  db: Database,
  storage: Storage,
  repo: Repository,
  creator: Account,
  name: string,
  wanted: NewStatus,
): Promise<Status> {
  checkTarget(wanted.target_url)
  const sha = /^[0-9a-f]{40}$/.test(name) ? await resolveCommit(storage, repo.id, name) : undefined
  if (!sha) throw new Refusal('invalid', `No commit found for SHA: ${name}`)
  const delivered = await readDelivered(db, storage, repo, sha)
  return db.transaction(async (transaction) => {
    const { state, context, description, target_url } = wanted
    const { id } = await transaction.load<{ id: number }>(sql`
      insert into commit_statuses (repo_id, sha, context, state, description, target_url, creator_id, created_at, updated_at)
      values (${repo.id}, ${sha}, ${context}, ${state}, ${description}, ${target_url}, ${creator.id}, ${transaction.now}, ${transaction.now})
      returning id`)
    // The row lock makes concurrent statuses of a context take turns, so that the last to commit is the one that counts.
    const { rowCount } = await transaction.query(sql`
      insert into status_contexts as t (repo_id, sha, context, state, status_id, statuses_count)
      values (${repo.id}, ${sha}, ${context}, ${state}, ${id}, 1)
      on conflict (repo_id, sha, context) do update
        set state = excluded.state, status_id = excluded.status_id, statuses_count = t.statuses_count + 1
        where t.statuses_count < ${mostStatuses}`)
    if (!rowCount) throw tooMany()
    await publish(transaction, creator, repo, { act: 'status.created', status_id: id, ...delivered })
    const [made] = await loadStatuses(transaction, [id])
    if (!made) throw new Error('the status was not stored')
    return made
  })
}

function checkTarget(target_url: string | null) {
  if (!target_url || isWebAddress(target_url)) return
  const message = 'target_url must use http(s) scheme'
  throw invalid({ resource: 'Status', code: 'custom', field: 'target_url', message })
}

const tooMany = () =>
  invalid({
    resource: 'Status',
    code: 'custom',
    field: 'base',
    message: 'This SHA and context has reached the maximum number of statuses.',
  })

/** The documented limit of the branches in a payload. */
const mostBranches = 10

type Delivered = Pick<Facts, 'commit' | 'branches' | 'commit_author_id' | 'committer_id'>

/** What a payload shows from git, if a hook subscribes. */
async function readDelivered(db: Database, storage: Storage, repo: Repository, sha: string): Promise<Delivered> {
  if (!(await hasSubscribers(db, repo, 'status'))) {
    return { commit: undefined, branches: [], commit_author_id: null, committer_id: null }
  }
  const [commit, found] = await Promise.all([
    readCommit(storage, repo.id, sha),
    branchesWith(storage, repo.id, sha, mostBranches),
  ])
  const { author, committer } = await findAuthors(db, commit)
  const names = found.map((ref) => ref.name.slice('refs/heads/'.length))
  const guarded = await protectedAmong(db, repo, names)
  const branches = found.map(({ sha: head }, index) => {
    const name = names[index] ?? ''
    return { name, sha: head, protected: guarded.has(name) }
  })
  return { commit, branches, commit_author_id: author?.id ?? null, committer_id: committer?.id ?? null }
}
