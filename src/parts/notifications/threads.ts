import type { Reason } from '#activity/acts.ts'
import { goodFor } from '#hosting/collaborators/collaborators.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import { offeredTo } from '#hosting/transfers/transfers.ts'
import { pausedFor } from '#parts/webhooks/pauses.ts'
import { type Database, empty, type Listed, type Queryable, type Slice, type Sql, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { rememberListSnapshot } from './list-snapshots.ts'

/** A user's notification thread, with the current state of its subject. */
export interface Thread {
  id: number
  repo_id: number
  subject_id: number
  reason: Reason
  unread: boolean
  done: boolean
  updated_at: Date
  last_read_at: Date | null
  position: number
  type: 'Issue' | 'PullRequest' | 'Commit' | 'Release' | `Repository${'Invitation' | 'Import' | 'Transfer'}` | 'Webhook'
  /** Null for an invitation or a transfer, which have the name of their repository. */
  title: string | null
  state: 'open' | 'closed' | 'merged' | 'draft' | null
  number: number | null
  commit_id: string | null
  release_id: number | null
  tag_name: string | null
  invitation_id: number | null
  transfer_id: number | null
  hook_id: number | null
  /** The login of the organization that owns the hook. */
  hook_org: string | null
  /** The latest comment or review that is not deleted. */
  latest_type: 'IssueComment' | 'PullRequestReview' | 'PullRequestReviewComment' | 'CommitComment' | null
  latest_id: number | null
}

const columns = sql`t.id, t.repo_id, t.subject_id, t.reason, t.unread, t.done, t.updated_at, t.last_read_at, t.position, s.type,
  coalesce(i.title, nullif(e.name, ''), e.tag_name, s.title) as title,
  case when p.merged_at is not null then 'merged' when p.draft and i.state = 'open' then 'draft' else i.state end as state,
  i.number, s.commit_id, s.release_id, e.tag_name, s.invitation_id, s.transfer_id, s.hook_id,
  case when s.hook_id is not null then (
    select o.login from hooks h join accounts o on o.id = h.org_id where h.id = s.hook_id) end as hook_org, s.latest_type,
  case s.latest_type
    when 'IssueComment' then (select c.id from comments c where c.id = s.latest_id)
    when 'PullRequestReview' then (select c.id from reviews c where c.id = s.latest_id)
    when 'PullRequestReviewComment' then (select c.id from review_comments c where c.id = s.latest_id)
    when 'CommitComment' then (select c.id from commit_comments c where c.id = s.latest_id) end as latest_id`

const source = sql`threads t join notification_subjects s on s.id = t.subject_id join repositories r on r.id = t.repo_id
  left join issues i on i.id = s.issue_id left join pulls p on p.issue_id = i.id left join releases e on e.id = s.release_id`

/** The joins that counting needs. */
const counted = sql`threads t join notification_subjects s on s.id = t.subject_id join repositories r on r.id = t.repo_id`

/**
 * The one rule for which threads a user sees: their own, of subjects they may see now. An invitation is visible while it is open, and
 * after it was accepted as long as the repository is. A release that became a draft again is hidden.
 */
const visibleTo = (db: Queryable, user: { id: number }) => sql`t.user_id = ${user.id} and case
  when s.invitation_id is not null then exists (select from invitations v where v.id = s.invitation_id and v.invitee_id = ${user.id}
      and v.created_at > ${db.now}::timestamptz - ${goodFor})
    or (exists (select from accepted_invitations v where v.id = s.invitation_id) and ${repositoryVisibleTo(user)})
  when s.transfer_id is not null then exists (select from transfers f where f.id = s.transfer_id and ${offeredTo(db, user)})
  when s.hook_id is not null then exists (select from hooks h where h.id = s.hook_id and ${pausedFor(user)})
  else ${repositoryVisibleTo(user)} and (s.release_id is null or exists (select from releases d where d.id = s.release_id and not d.draft)) end`

const repositoryVisibleTo = (user: { id: number }) =>
  sql`(not r.private or ${hasAccessByName({ viewer_id: user.id, sees_private: true })})`

export interface Filter {
  /** `inbox` has read and unread threads. */
  view: 'unread' | 'inbox' | 'done'
  participating?: boolean
  repo_id?: number
  since?: Date | undefined
  before?: Date | undefined
  /** Further conditions over `t`, the subject `s`, the repository `r` and the issue `i`. */
  besides?: Sql
}

/** Literals in the statement, so that the planner uses the partial indexes. */
const views = { unread: sql`t.unread`, inbox: sql`not t.done`, done: sql`t.done` }

function matching({ view, participating, repo_id, since, before, besides = empty }: Filter): Sql {
  return sql`${views[view]} ${participating ? sql`and not t.done and t.reason <> 'subscribed'` : empty}
    ${repo_id === undefined ? empty : sql`and t.repo_id = ${repo_id}`}
    ${since ? sql`and t.updated_at > ${since}` : empty} ${before ? sql`and t.updated_at < ${before}` : empty} ${besides}`
}

/** Longer lists are not counted, so they have no last page. */
const mostCounted = 1000

/** Newest first. A list that is not counted has a total of Infinity. */
export async function listThreads(
  db: Database,
  user: { id: number },
  filter: Filter,
  { limit, offset }: Slice,
): Promise<Listed<Thread>> {
  const found = await db.genericPlanRows<Thread & { snapshot: string }>(sql`
    select ${columns}, pg_current_snapshot()::text as snapshot from ${source} where ${visibleTo(db, user)} and ${matching(filter)}
    order by t.updated_at desc, t.id desc limit ${limit + 1} offset ${offset}`)
  // Later pages do not show threads that came to the front since, so only the first page is remembered.
  if (found[0] && offset === 0) rememberListSnapshot(db, user, found[0].snapshot)
  const rows = found.slice(0, limit)
  if (found.length <= limit && (offset === 0 || found.length)) return { rows, total: offset + found.length }
  const total = await countThreads(db, user, filter, mostCounted)
  // A page past the end has no next page.
  return { rows, total: total < mostCounted ? total : found.length ? Infinity : offset }
}

/** Counts up to `most` threads. The order makes the planner start from the user's threads instead of all subjects. */
export async function countThreads(db: Database, user: { id: number }, filter: Filter, most: number): Promise<number> {
  const from = filter.besides ? source : counted
  const [row] = await db.genericPlanRows<{ total: number }>(sql`
    select count(*) as total from (
      select from ${from} where ${visibleTo(db, user)} and ${matching(filter)} order by t.updated_at desc, t.id desc limit ${most}) few`)
  return row?.total ?? 0
}

/** Adds the repositories. A thread whose repository was deleted meanwhile is left out. */
export async function withRepositories(db: Queryable, user: { id: number }, threads: Thread[]) {
  const repos = await readRepositories(db, user.id, [...new Set(threads.map(({ repo_id }) => repo_id))])
  const byId = new Map(repos.map((repo) => [repo.id, repo]))
  return threads.flatMap((thread) => {
    const repo = byId.get(thread.repo_id)
    return repo ? [{ ...thread, repo }] : []
  })
}

export async function loadThread(db: Queryable, user: { id: number }, id: number): Promise<Thread> {
  const found = await db.first<Thread>(sql`select ${columns} from ${source} where ${visibleTo(db, user)} and t.id = ${id}`)
  if (!found) throw missing()
  return found
}

/** The limit of one read. Of more changes, the newest are returned. */
const mostChanges = 100

/**
 * Threads that changed after a position in the log, oldest first, and the position for the next read. Changes are returned once all
 * earlier transactions have ended, see log_horizon.
 */
export async function readChanges(db: Database, user: { id: number }, cursor: string | null) {
  const since = cursor !== null && /^\d{1,16}$/.test(cursor) ? Number(cursor) : null
  const [end] = await db.rows<{ horizon: number }>(sql`select log_horizon() as horizon`)
  const horizon = end?.horizon ?? 0
  if (since === null) return { threads: [], place: String(horizon) }
  const threads = await db.genericPlanRows<Thread>(sql`
    select ${columns} from ${source}
    where ${visibleTo(db, user)} and t.position >= ${since} and t.position < ${horizon}
    order by t.position desc, t.id desc limit ${mostChanges}`)
  // A position from the future, as of another server, also continues from now on.
  return { threads: threads.reverse(), place: String(horizon) }
}
