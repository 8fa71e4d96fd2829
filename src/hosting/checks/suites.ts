import type { Act } from '#activity/acts.ts'
import { hasSubscribers } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { type CommitObject, readCommit, resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type App, appColumns, appSource } from '#identity/apps.ts'
import { type Database, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export type CheckStatus = 'queued' | 'in_progress' | 'completed'
export const conclusions = ['action_required', 'cancelled', 'failure', 'neutral', 'success', 'skipped', 'timed_out'] as const
export type Conclusion = (typeof conclusions)[number]

/** An open pull request of a branch that has the commit. */
export interface CheckedPull {
  id: number
  number: number
  head_ref: string
  head_sha: string
  base_ref: string
  base_sha: string
}

/** The runs of one app for one commit. */
export interface CheckSuite {
  id: number
  head_sha: string
  head_branch: string | null
  before_sha: string | null
  status: CheckStatus
  conclusion: Conclusion | null
  runs_count: number
  pulls: CheckedPull[]
  /** Null for checks that users created before only apps could. */
  app: App | null
  created_at: Date
  updated_at: Date
}

/** The pull requests of a suite `s`. */
export const checkedPulls = sql`array(
  select json_build_object('id', p.id, 'number', i.number, 'head_ref', p.head_ref, 'head_sha', p.head_sha, 'base_ref', p.base_ref,
    'base_sha', p.base_sha)
  from pulls p join issues i on i.id = p.issue_id
  where p.head_repo_id = s.repo_id and p.head_ref = s.head_branch and p.head_sha = s.head_sha and p.repo_id = s.repo_id
    and i.state = 'open'
  order by i.number limit 100)`

/** The app of a suite `s`. */
export const checkingApp = sql`(select to_json(app) from (select ${appColumns} from ${appSource} where p.id = s.app_id) app) as app`

/** JSON has no dates. */
export const withDates = <Row extends { app: App | null }>({ app, ...row }: Row) =>
  ({
    ...row,
    app: app && { ...app, created_at: new Date(app.created_at), updated_at: new Date(app.updated_at) },
  }) as Row

const columns = sql`s.id, s.head_sha, s.head_branch, s.before_sha, s.status, s.conclusion, s.created_at, s.updated_at,
  (select count(*) from check_runs r where r.suite_id = s.id and r.latest) as runs_count, ${checkedPulls} as pulls, ${checkingApp}`

/** Suites by id, without a check of access: the caller has checked it. */
export async function loadSuites(db: Queryable, ids: number[]): Promise<CheckSuite[]> {
  const rows = await db.rows<CheckSuite>(sql`select ${columns} from check_suites s where s.id = any(${ids})`)
  return rows.map(withDates)
}

export async function loadSuite(db: Queryable, repo: Repository, id: number): Promise<CheckSuite> {
  return withDates(await db.load(sql`select ${columns} from check_suites s where s.repo_id = ${repo.id} and s.id = ${id}`))
}

/** The suites of a commit, newest first; with a name, those that have a run of that name. */
export async function listSuites(
  db: Queryable,
  repo: Repository,
  sha: string,
  { check_name, app_id }: { check_name: string; app_id: string },
  slice: Slice,
): Promise<Listed<CheckSuite>> {
  const named = sql`(${check_name} = '' or exists (select from check_runs r where r.suite_id = s.id and r.name = ${check_name}))`
  const source = sql`check_suites s where s.repo_id = ${repo.id} and s.head_sha = ${sha} and ${named} and ${isOfApp(app_id)}`
  const { rows, total } = await listed<CheckSuite>(db, { columns, source, order: sql`s.id desc` }, slice)
  return { rows: rows.map(withDates), total }
}

/** Whether a suite `s` is of the app with this id. The app of checks that users created is 0. */
export function isOfApp(app_id: string): Sql {
  return /^\d{1,15}$/.test(app_id) ? sql`coalesce(s.app_id, 0) = ${Number(app_id)}` : sql`true`
}

/** The app that a user is the bot of. */
const appOf = (user: { id: number }) => sql`(select id from apps where bot_id = ${user.id})`

/** Only the app that created a check may change it. */
export async function checkMayChange(db: Queryable, user: { id: number }, suite: { id: number }) {
  const { rowCount } = await db.query(sql`select from check_suites where id = ${suite.id} and app_id = ${appOf(user)}`)
  if (!rowCount) throw forbidden('Only the app that created a check may change it.')
}

/** A commit that is checked: its id, and the commit itself if a hook subscribes to suites. */
export interface CheckedCommit {
  sha: string
  commit: CommitObject | undefined
}

export async function findChecked(db: Queryable, storage: Storage, repo: Repository, name: string): Promise<CheckedCommit> {
  const sha = /^[0-9a-f]{40}$/.test(name) ? await resolveCommit(storage, repo.id, name) : undefined
  if (!sha) throw new Refusal('invalid', `No commit found for SHA: ${name}`)
  return { sha, commit: await readDelivered(db, storage, repo, sha) }
}

/** The commit for payloads of suites, if a hook subscribes. */
export async function readDelivered(db: Queryable, storage: Storage, repo: Repository, sha: string) {
  return (await hasSubscribers(db, repo, 'check_suite')) ? readHead(storage, repo, sha) : undefined
}

/** Undefined when git has removed the commit; its checks remain. */
export async function readHead(storage: Storage, repo: Repository, sha: string): Promise<CommitObject | undefined> {
  return (await resolveCommit(storage, repo.id, sha)) ? readCommit(storage, repo.id, sha) : undefined
}

/** The suite of a commit for the app of this user, which is created if there is none. Locked, so that changes of its runs take turns. */
export async function lockSuiteOf(
  db: Transaction,
  repo: Repository,
  creator: { id: number },
  sha: string,
): Promise<{ id: number; made: boolean }> {
  const branch = sql`
    select substr(name, 12) from refs where repo_id = ${repo.id} and sha = ${sha} and name like 'refs/heads/%'
    order by name = ${`refs/heads/${repo.default_branch}`} desc, name limit 1`
  return db.load<{ id: number; made: boolean }>(sql`
    insert into check_suites (repo_id, app_id, head_sha, head_branch, created_at, updated_at)
    select k.id, ${appOf(creator)}, ${sha}, (${branch}), ${db.now}, ${db.now} from ${keptId(repo)} k
    on conflict (repo_id, head_sha, app_id) do update set updated_at = excluded.updated_at
    returning id, xmax = 0 as made`)
}

/** Which conclusion of the latest runs is the suite's: the first of these that one of them has. */
const precedence = ['failure', 'timed_out', 'action_required', 'cancelled', 'success'] satisfies Conclusion[]

/** Writes what follows from the latest runs of a suite. Returns the act if that completes it. */
export async function settleSuite(db: Transaction, suite: { id: number }, commit: CommitObject | undefined): Promise<Act[]> {
  const { completes } = await db.load<{ completes: boolean }>(sql`
    with found as (
      select case when bool_and(r.status = 'completed') then 'completed' when bool_or(r.status <> 'queued') then 'in_progress'
          else 'queued' end as status,
        coalesce((select c from unnest(${precedence}::text[]) with ordinality as p (c, place)
          where c = any(array_agg(r.conclusion)) order by place limit 1), 'neutral') as conclusion
      from check_runs r where r.suite_id = ${suite.id} and r.latest),
    before as (select status from check_suites where id = ${suite.id})
    update check_suites s
    set status = found.status, conclusion = case when found.status = 'completed' then found.conclusion end, updated_at = ${db.now}
    from found, before where s.id = ${suite.id}
    returning found.status = 'completed' and before.status <> 'completed' as completes`)
  return completes ? [{ act: 'check_suite.completed', check_suite_id: suite.id, commit }] : []
}

/** Returns the suite of a commit, and whether it is new. */
export async function createSuite(db: Database, storage: Storage, repo: Repository, creator: Account, name: string) {
  const { sha, commit } = await findChecked(db, storage, repo, name)
  return db.transaction(async (transaction) => {
    const { id, made } = await lockSuiteOf(transaction, repo, creator, sha)
    const suite = await loadSuite(transaction, repo, id)
    if (made)
      await publish(transaction, creator, repo, {
        act: 'check_suite.requested',
        check_suite_id: id,
        commit,
        for_app_id: suite.app?.id ?? null,
      })
    return { suite, made }
  })
}

/** Asks the app of a suite to run its checks again. The runs stay until the app reports new ones. */
export async function rerequestSuite(db: Database, storage: Storage, repo: Repository, user: Account, id: number) {
  const { head_sha, app } = await loadSuite(db, repo, id)
  const commit = await readDelivered(db, storage, repo, head_sha)
  await db.transaction(async (transaction) => {
    await resetSuite(transaction, id)
    await publish(transaction, user, repo, {
      act: 'check_suite.rerequested',
      check_suite_id: id,
      commit,
      for_app_id: app?.id ?? null,
    })
  })
}

/** As documented for a rerequest, also of a single run. */
export async function resetSuite(db: Transaction, id: number) {
  await db.query(sql`
    update check_suites set status = 'queued', conclusion = null, updated_at = ${db.now} where id = ${id}`)
}
