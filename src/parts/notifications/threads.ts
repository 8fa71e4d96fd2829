import type { Reason } from '#activity/acts.ts'
import { goodFor } from '#hosting/collaborators/collaborators.ts'
import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import { offeredTo } from '#hosting/transfers/transfers.ts'
import { pausedFor } from '#parts/webhooks/pauses.ts'
import { type Database, empty, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { isInListSnapshot } from './list-snapshots.ts'
import { marksLock } from './mark-read.ts'

/** A user's notification thread, with the current state of its subject. */
export interface Thread {
  id: number
  repo_id: number
  subject_id: number
  reason: Reason
  unread: boolean
  done: boolean
  saved: boolean
  /** A thread that is done is snoozed until then. */
  snoozed_until: Date | null
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
  repo: RepositoryName
}

/** A row has the columns of its repository, prefixed. */
type ThreadRow = Omit<Thread, 'repo'> & { [Name in keyof RepositoryName as `repo_${Name}`]: RepositoryName[Name] }

/** Threads of one repository share its object. */
function withRepositories(rows: ThreadRow[]): Thread[] {
  const repos = new Map<number, RepositoryName>()
  return rows.map((row) => {
    let repo = repos.get(row.repo_id)
    if (!repo) {
      repo = {
        id: row.repo_id,
        name: row.repo_name,
        owner_id: row.repo_owner_id,
        owner_login: row.repo_owner_login,
        owner_type: row.repo_owner_type,
        owner_site_admin: row.repo_owner_site_admin,
        private: row.repo_private,
        description: row.repo_description,
        parent_id: row.repo_parent_id,
      }
      repos.set(repo.id, repo)
    }
    return Object.assign(row, { repo })
  })
}

const columns = sql`t.id, t.repo_id, r.name as repo_name, r.owner_id as repo_owner_id, w.login as repo_owner_login, w.type as repo_owner_type,
  w.site_admin as repo_owner_site_admin, r.private as repo_private, r.description as repo_description, r.parent_id as repo_parent_id,
  t.subject_id, t.reason, t.unread, t.done, t.saved, t.snoozed_until, t.updated_at, t.last_read_at, t.position, s.type,
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
  join accounts w on w.id = r.owner_id left join issues i on i.id = s.issue_id left join pulls p on p.issue_id = i.id left join releases e on e.id = s.release_id`

/** The joins that counting needs. */
const counted = sql`threads t join notification_subjects s on s.id = t.subject_id join repositories r on r.id = t.repo_id`

/**
 * The one rule for which threads a user sees: their own, of subjects they may see now. An invitation is visible while it is open, and
 * after it was accepted as long as the repository is. A release that became a draft again is hidden. The subqueries are scalar: `exists` lets
 * the planner read all releases, hooks or invitations of the server into a hash table for a page that has one of them.
 */
const visibleTo = (db: Queryable, user: { id: number }) => sql`t.user_id = ${user.id} and case
  when s.transfer_id is not null then (select true from transfers f where f.id = s.transfer_id and ${offeredTo(db, user)})
  when s.hook_id is not null then (select true from hooks h where h.id = s.hook_id and ${pausedFor(user)})
  when s.invitation_id is not null and (select true from invitations v where v.id = s.invitation_id and v.invitee_id = ${user.id}
      and v.created_at > ${db.now}::timestamptz - ${goodFor}) then true
  else ${repositoryVisibleTo(user)}
    and (s.invitation_id is null or (select true from accepted_invitations v where v.id = s.invitation_id))
    and (s.release_id is null or (select not d.draft from releases d where d.id = s.release_id)) end`

/** All threads `t` that a user sees, with the subject `s`, the repository `r`, its owner `w`, the issue `i` and the release `e`. */
export const threadsVisibleTo = (db: Queryable, user: { id: number }) => sql`${source} where ${visibleTo(db, user)}`

const repositoryVisibleTo = (user: { id: number }) =>
  sql`(not r.private or ${hasAccessByName({ viewer_id: user.id, sees_private: true })})`

export interface Filter {
  /** `inbox` has read and unread threads. `done` has no snoozed ones. */
  view: 'unread' | 'inbox' | 'done' | 'saved' | 'snoozed'
  participating?: boolean
  repo_id?: number
  since?: Date | undefined
  before?: Date | undefined
  /** Further conditions over `t`, the subject `s`, the repository `r` and the issue `i`. */
  besides?: Sql
}

/** Literals in the statement, so that the planner uses the partial indexes. */
const views = {
  unread: sql`t.unread`,
  inbox: sql`not t.done`,
  done: sql`t.done and t.snoozed_until is null`,
  saved: sql`t.saved`,
  snoozed: sql`t.done and t.snoozed_until is not null`,
}

function matching({ view, participating, repo_id, since, before, besides = empty }: Filter): Sql {
  return sql`${views[view]} ${participating ? sql`and not t.done and t.reason <> 'subscribed'` : empty}
    ${repo_id === undefined ? empty : sql`and t.repo_id = ${repo_id}`}
    ${since ? sql`and t.updated_at > ${since}` : empty} ${before ? sql`and t.updated_at < ${before}` : empty} ${besides}`
}

/** Longer lists are not counted, so they have no last page. */
const mostCounted = 1000

interface ThreadList extends Listed<Thread> {
  /** Set if the stored snapshot does not contain all threads of the list, see list-snapshots.ts. */
  new_snapshot: string | undefined
}

/** Newest first. A list that is not counted has a total of Infinity. */
export async function listThreads(
  db: Database,
  user: { id: number },
  filter: Filter,
  { limit, offset }: Slice,
): Promise<ThreadList> {
  // The row after the page has the counts. Without it, the page is the last one.
  const found = await db.genericPlanRows<ThreadRow & { snapshot: string; is_stored: boolean; counts: Counts | null }>(sql`
    select page.*, (select pg_current_snapshot()::text) as snapshot, ${isInListSnapshot(user, sql`page.position`)} as is_stored,
      case when row_number() over () > ${limit} then (${counts(db, user, filter, mostCounted)}) end as counts
    from (
      select ${columns} from ${source} where ${visibleTo(db, user)} and ${matching(filter)}
      order by t.updated_at desc, t.id desc limit ${limit + 1} offset ${offset}) page`)
  // Later pages do not show threads that came to the front since, so only the first page is remembered.
  const new_snapshot = offset === 0 ? found.find(({ is_stored }) => !is_stored)?.snapshot : undefined
  const rows = withRepositories(found.slice(0, limit))
  if (found.length <= limit && (offset === 0 || found.length)) return { rows, total: offset + found.length, new_snapshot }
  const total = await totalOf(db, user, filter, mostCounted, found[limit]?.counts)
  // A page past the end has no next page.
  return { rows, total: total < mostCounted ? total : found.length ? Infinity : offset, new_snapshot }
}

/** Counts up to `most` threads. */
export async function countThreads(db: Database, user: { id: number }, filter: Filter, most: number): Promise<number> {
  const [row] = await db.genericPlanRows<{ counts: Counts | null }>(sql`select (${counts(db, user, filter, most)}) as counts`)
  return totalOf(db, user, filter, most, row?.counts)
}

/** The repository of unread threads, their number, and how many of them meet each condition. */
export interface UnreadCount {
  owner_login: string
  name: string
  unread: number
  matching: number[]
}

/** Counts the newest unread threads by repository, and by conditions as in `Filter.besides`; the repository with the most first. */
export function countUnread(db: Database, user: { id: number }, conditions: Sql[]): Promise<UnreadCount[]> {
  const tests = conditions.map((condition) => sql`, (true ${condition})`)
  const counts = conditions.map((_, index) => sql`, count(*) filter (where n.tests[${index + 2}])`)
  // The first item gives an empty list its type.
  return db.customPlanRows(sql`
    select w.login as owner_login, r.name, count(*)::int as unread, (array[0::bigint ${joined(counts)}])[2:]::int[] as matching
    from (
      select t.repo_id, array[true ${joined(tests)}] as tests from ${source} where ${visibleTo(db, user)} and t.unread
      order by t.updated_at desc, t.id desc limit ${mostCounted}) n
      join repositories r on r.id = n.repo_id join accounts w on w.id = r.owner_id
    group by w.login, r.name order by count(*) desc, w.login, r.name`)
}

const joined = (parts: Sql[]) => parts.reduce((all, one) => sql`${all}${one}`, empty)

/** How many of the newest threads were read, and how many of them the user sees. */
type Counts = [read: number, visible: number]

/** Counts the newest threads by repository. Only conditional threads (see migrations/0026_lists.sql) are read. A search is not counted here. */
function counts(db: Queryable, user: { id: number }, filter: Filter, most: number): Sql {
  if (filter.besides) return sql`null::int[]`
  return sql`with newest as materialized (
      select t.id, t.repo_id, t.conditional from threads t where t.user_id = ${user.id} and ${matching(filter)}
      order by t.updated_at desc, t.id desc limit ${most})
    select array[(select count(*) from newest)::int, (
      coalesce((select sum(n.total) from (select repo_id, count(*) as total from newest where not conditional group by repo_id) n
        where (select ${repositoryVisibleTo(user)} from repositories r where r.id = n.repo_id)), 0)
      + (select count(*) from newest n where n.conditional and (
          select true from ${counted} where t.id = n.id and ${visibleTo(db, user)})))::int]`
}

/** If all threads were read, or all that were read are visible, that is the total. Otherwise more threads must be read one by one. */
async function totalOf(db: Database, user: { id: number }, filter: Filter, most: number, found?: Counts | null) {
  if (found && (found[0] < most || found[1] === most)) return found[1]
  const from = filter.besides ? source : counted
  // The order makes the planner start from the user's threads instead of all subjects.
  const [row] = await db.genericPlanRows<{ total: number }>(sql`
    select count(*) as total from (
      select from ${from} where ${visibleTo(db, user)} and ${matching(filter)} order by t.updated_at desc, t.id desc limit ${most}) few`)
  return row?.total ?? 0
}

export async function loadThread(db: Queryable, user: { id: number }, id: number): Promise<Thread> {
  const [found] = withRepositories(
    await db.rows<ThreadRow>(sql`select ${columns} from ${source} where ${visibleTo(db, user)} and t.id = ${id}`),
  )
  if (!found) throw missing()
  return found
}

/** Refuses a thread that the user does not see, and serializes marks of the user like lockMarks, in one statement. */
export async function lockThread(db: Transaction, user: { id: number }, id: number) {
  const { rowCount } = await db.query(sql`
    select ${marksLock(user)} from ${counted} where ${visibleTo(db, user)} and t.id = ${id}`)
  if (!rowCount) throw missing()
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
  if (since === null) return { threads: [], bookmark: String(horizon) }
  const threads = await db.genericPlanRows<ThreadRow>(sql`
    select ${columns} from ${source}
    where ${visibleTo(db, user)} and t.position >= ${since} and t.position < ${horizon}
    order by t.position desc, t.id desc limit ${mostChanges}`)
  // A position from the future, as of another server, also continues from now on.
  return { threads: withRepositories(threads.reverse()), bookmark: String(horizon) }
}
