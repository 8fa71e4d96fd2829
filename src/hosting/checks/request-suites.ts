import type { Act } from '#activity/acts.ts'
import { isServed } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { type CommitObject, noObject, readCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { json, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

const branches = 'refs/heads/'

/** A branch that a push moved. */
interface PushedBranch {
  ref: string
  before: string
  after: string
  push: { pusher_id: number }
}

/** The head of a pushed branch, which apps are asked to check. */
export interface PushedHead extends PushedBranch {
  commit: CommitObject
}

/** How many branches of a push are checked: each costs two git processes. */
const mostHeads = 20

/**
 * The installations `i` of apps that check a repository `r`: they may write checks, their hook subscribes to suites, and the repository has
 * not turned them off.
 */
const checking = (repo: { id: number }) => sql`
  repositories r join installations i on i.account_id = r.owner_id join hooks h on h.app_id = i.app_id
  where r.id = ${repo.id} and ${isServed} and i.permissions->>'checks' = 'write'
    and (i.all_repositories or exists (select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id))
    and not exists (select from check_suite_preferences f where f.repo_id = r.id and f.app_id = i.app_id and not f.setting)
    and i.events && '{check_suite,*}'`

/** Reads the heads of pushed branches, if an app checks the repository. */
export async function readPushedHeads(
  db: Queryable,
  storage: Storage,
  repo: { id: number },
  moves: PushedBranch[],
): Promise<PushedHead[]> {
  const pushed = moves.filter(({ ref, after }) => ref.startsWith(branches) && after !== noObject).slice(0, mostHeads)
  if (!pushed.length || !(await db.query(sql`select from ${checking(repo)} limit 1`)).rowCount) return []
  const heads: PushedHead[] = []
  // One after the other, so that a push takes one slot.
  for (const move of pushed) {
    const commit = await readCommit(storage, repo.id, move.after).catch(ifTooLarge)
    if (commit) heads.push({ ...move, commit })
  }
  return heads
}

/** A commit that cannot be read must not keep its push from being recorded. */
function ifTooLarge(error: unknown) {
  if (error instanceof Refusal) return undefined
  throw error
}

/**
 * Creates the suites of pushed commits, one for each app that may write checks, and asks the app to run them. A commit that has its suite
 * already is not checked again.
 */
export async function requestSuites(db: Transaction, repo: { id: number }, heads: PushedHead[]) {
  if (!heads.length) return
  const wanted = heads.map(({ ref, before, after }) => ({
    branch: ref.slice(branches.length),
    before: before === noObject ? null : before,
    after,
  }))
  const made = await db.rows<{ id: number; app_id: number; head_sha: string }>(sql`
    insert into check_suites (repo_id, app_id, head_sha, head_branch, before_sha, created_at, updated_at)
    select ${repo.id}, apps.app_id, w.after, w.branch, w.before, ${db.now}, ${db.now}
    from (select distinct i.app_id from ${checking(repo)}) apps,
      jsonb_to_recordset(${json(wanted)}::jsonb) as w (branch text, before text, after text)
    on conflict (repo_id, head_sha, app_id) do nothing
    returning id, app_id, head_sha`)
  for (const [pusher_id, pushed] of Map.groupBy(heads, ({ push }) => push.pusher_id)) {
    const acts = made.flatMap(({ id, app_id, head_sha }): Act[] => {
      const commit = pushed.find(({ after }) => after === head_sha)?.commit
      return commit ? [{ act: 'check_suite.requested', check_suite_id: id, commit, for_app_id: app_id }] : []
    })
    if (acts.length) await publish(db, { id: pusher_id }, repo, ...acts)
  }
}
