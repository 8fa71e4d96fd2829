import { holdsAll } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { levelOf } from '#identity/access.ts'
import { json, type Queryable, sql } from '#platform/database.ts'
import { findProtection } from './protection.ts'
import type { Protection } from './rules.ts'

/** How a required check stands for a commit. */
export interface CheckState {
  context: string
  state: 'expected' | 'pending' | 'failing' | 'passing'
}

/** Conclusions with which a run lets a commit pass. */
const passing = sql`('success', 'neutral', 'skipped')`

/** The required checks of protections, each for a commit. A status and a run of the same name must both pass. */
export async function readCheckStates(
  db: Queryable,
  repo: { id: number },
  wanted: { protection_id: number; sha: string }[],
): Promise<Map<number, CheckState[]>> {
  const rows = await db.rows<CheckState & { protection_id: number }>(sql`
    select w.protection_id, c.context, (
      select case when count(*) = 0 then 'expected' when bool_or(failing) then 'failing' when bool_or(pending) then 'pending'
        else 'passing' end
      from (
        select t.state in ('error', 'failure') as failing, t.state = 'pending' as pending from status_contexts t
        where t.repo_id = ${repo.id} and t.sha = w.sha and t.context = c.context and c.app_id is null
        union all
        select r.conclusion not in ${passing}, r.conclusion is null from check_runs r join check_suites s on s.id = r.suite_id
        where r.repo_id = ${repo.id} and r.head_sha = w.sha and r.name = c.context and r.latest
          and (c.app_id is null or s.app_id = c.app_id)) reported) as state
    from jsonb_to_recordset(${json(wanted)}::jsonb) as w (protection_id bigint, sha text)
      join required_checks c on c.protection_id = w.protection_id
    order by c.context`)
  return Map.groupBy(rows, ({ protection_id }) => protection_id)
}

/** Why checks do not let a commit pass; undefined if they do. */
export function describeUnmet(states: CheckState[]): string | undefined {
  const unmet = states.filter(({ state }) => state !== 'passing')
  const [first] = unmet
  if (!first) return undefined
  if (unmet.length === 1) return `Required status check "${first.context}" is ${first.state}.`
  const names = unmet.slice(0, 10).map(({ context, state }) => `"${context}" is ${state}`)
  return `${unmet.length} of ${states.length} required status checks have not succeeded: ${names.join(', ')}.`
}

interface Verdicts {
  approvals: number
  requested_changes: number
}

/** The last verdict of each reviewer with push access. Approvals of earlier commits do not count if they become stale. */
function countVerdicts(db: Queryable, pull: MergedPull, { dismiss_stale_reviews }: { dismiss_stale_reviews: boolean }) {
  return db.load<Verdicts>(sql`
    select count(*) filter (where state = 'APPROVED' and (commit_id = ${pull.head_sha} or not ${dismiss_stale_reviews}::boolean)) as approvals,
      count(*) filter (where state = 'CHANGES_REQUESTED') as requested_changes
    from (
      select distinct on (v.author_id) v.state, v.commit_id
      from reviews v join repositories r on r.id = ${pull.repo_id}
      where v.pull_id = ${pull.id} and v.state in ('APPROVED', 'CHANGES_REQUESTED', 'DISMISSED')
        and access_of(v.author_id, r) >= ${levelOf('push')}
      order by v.author_id, v.submitted_at desc, v.id desc) verdicts`)
}

/** What of a pull request decides whether it may be merged. */
export interface MergedPull {
  id: number
  repo_id: number
  head_sha: string
  base_ref: string
}

export interface Unmet {
  state: 'blocked' | 'behind'
  message: string
}

/** All that a protection still asks of a pull request before a user without a right to bypass it may merge. */
export async function findUnmet(
  db: Queryable,
  storage: Storage,
  protection: Protection,
  pull: MergedPull,
  base: string,
  without: { reviews: boolean } = { reviews: false },
): Promise<Unmet[]> {
  const { required_pull_request_reviews: reviews, required_status_checks: checks } = protection
  const messages = [
    protection.lock_branch && 'This branch is locked: nobody can change it.',
    protection.required_signatures && 'Commits must have verified signatures.',
    ...(reviews && !without.reviews ? describeVerdicts(await countVerdicts(db, pull, reviews), reviews) : []),
    protection.required_conversation_resolution && describeConversations(await countUnresolved(db, pull)),
    checks && (await describeChecks(db, protection, pull)),
  ]
  const blocked = messages.flatMap((message): Unmet[] => (message ? [{ state: 'blocked', message }] : []))
  if (!checks?.strict || (await holdsAll(storage, pull.repo_id, pull.head_sha, base))) return blocked
  return [...blocked, { state: 'behind', message: 'The head branch is not up to date with the base branch.' }]
}

const describeVerdicts = (
  { approvals, requested_changes }: Verdicts,
  { approvals_count: needed }: { approvals_count: number },
) => [
  requested_changes > 0 && 'Changes were requested by a reviewer with write access.',
  approvals < needed &&
    `At least ${needed} approving ${needed === 1 ? 'review is' : 'reviews are'} required by reviewers with write access.`,
]

const describeConversations = (unresolved: number) =>
  unresolved > 0 && `All review conversations must be resolved: ${unresolved} ${unresolved === 1 ? 'is' : 'are'} not.`

/** Threads of published reviews; a thread has the id of its first comment. */
async function countUnresolved(db: Queryable, pull: MergedPull): Promise<number> {
  const { total } = await db.load<{ total: number }>(sql`
    select count(*) as total from review_comments c left join reviews v on v.id = c.review_id
    where c.pull_id = ${pull.id} and c.in_reply_to_id is null and v.state is distinct from 'PENDING'
      and not exists (select from resolved_threads t where t.thread_id = c.id)`)
  return total
}

async function describeChecks(db: Queryable, protection: Protection, pull: MergedPull) {
  const states = await readCheckStates(db, { id: pull.repo_id }, [{ protection_id: protection.id, sha: pull.head_sha }])
  return describeUnmet(states.get(protection.id) ?? [])
}

/** Why an open pull request without conflicts cannot simply be merged: `unstable` if a check that is not required does not pass. */
export async function findObstacle(
  db: Queryable,
  storage: Storage,
  pull: MergedPull,
  base: string,
): Promise<'blocked' | 'behind' | 'unstable' | null> {
  const protection = await findProtection(db, { id: pull.repo_id }, pull.base_ref)
  const unmet = protection ? await findUnmet(db, storage, protection, pull, base) : []
  const [first] = unmet
  if (first) return first.state
  const { unstable } = await db.load<{ unstable: boolean }>(sql`
    select exists (
      select from status_contexts t where t.repo_id = ${pull.repo_id} and t.sha = ${pull.head_sha} and t.state <> 'success')
    or exists (
      select from check_runs r where r.repo_id = ${pull.repo_id} and r.head_sha = ${pull.head_sha} and r.latest
        and (r.conclusion is null or r.conclusion not in ${passing})) as unstable`)
  return unstable ? 'unstable' : null
}
