import { publish } from '#activity/publish.ts'
import { findRef } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { person } from '#hosting/issues/authors.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { shownTeam } from '#hosting/teams/teams.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type App, appColumns, appSource } from '#identity/apps.ts'
import { json, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { changedRules } from './rule-json.ts'
import { type ActorList, type Actors, type Protection, type RequiredCheck, type Rules, switches } from './rules.ts'

interface Row
  extends Omit<Protection, keyof Pick<Rules, 'required_status_checks' | 'required_pull_request_reviews' | 'restrictions'>> {
  strict_checks: boolean | null
  approvals_count: number | null
  dismiss_stale_reviews: boolean
  restricts_dismissals: boolean
  restricts_pushes: boolean
  checks: RequiredCheck[]
  actors: { list: ActorList; user: Person | null; team: ShownTeam | null; app_id: number | null }[]
}

async function read(db: Queryable, condition: Sql): Promise<Protection[]> {
  const rows = await db.rows<Row>(sql`
    select p.*,
      array(select json_build_object('context', c.context, 'app_id', c.app_id)
        from required_checks c where c.protection_id = p.id order by c.context) as checks,
      array(select json_build_object('list', l.list,
          'user', (select ${person} from accounts a where a.id = l.user_id),
          'team', (select ${shownTeam} from teams t join accounts o on o.id = t.org_id where t.id = l.team_id), 'app_id', l.app_id)
        from protection_actors l where l.protection_id = p.id order by l.list, l.user_id, l.team_id, l.app_id) as actors
    from branch_protections p where ${condition}`)
  const app_ids = rows.flatMap(({ actors }) => actors.flatMap(({ app_id }) => app_id ?? []))
  const apps = app_ids.length
    ? await db.rows<App>(sql`select ${appColumns} from ${appSource} where p.id = any(${app_ids}::bigint[])`)
    : []
  const byId = new Map(apps.map((app) => [app.id, app]))
  return rows.map((row) => protectionOf(row, byId))
}

function protectionOf(row: Row, apps: Map<number, App>): Protection {
  const {
    strict_checks,
    approvals_count,
    dismiss_stale_reviews,
    restricts_dismissals,
    restricts_pushes,
    checks,
    actors,
    ...rest
  } = row
  const listed = (list: ActorList): Actors => {
    const those = actors.filter((actor) => actor.list === list)
    return {
      users: those.flatMap(({ user }) => user ?? []),
      teams: those.flatMap(({ team }) => team ?? []),
      apps: those.flatMap(({ app_id }) => apps.get(app_id ?? 0) ?? []),
    }
  }
  return {
    ...rest,
    required_status_checks: strict_checks === null ? null : { strict: strict_checks, checks },
    required_pull_request_reviews:
      approvals_count === null
        ? null
        : {
            approvals_count,
            dismiss_stale_reviews,
            dismissal_restrictions: restricts_dismissals ? listed('dismissal_restrictions') : null,
            bypass_pull_request_allowances: listed('bypass_pull_request_allowances'),
          },
    restrictions: restricts_pushes ? listed('restrictions') : null,
  }
}

/** Protections by id, without a check of access: the caller has checked it. */
export const loadProtections = (db: Queryable, ids: number[]) => read(db, sql`p.id = any(${ids})`)

/** The protections of branches, by name. */
export async function findProtections(db: Queryable, repo: { id: number }, branches: string[]): Promise<Map<string, Protection>> {
  if (!branches.length) return new Map()
  const found = await read(db, sql`p.repo_id = ${repo.id} and p.branch = any(${branches})`)
  return new Map(found.map((protection) => [protection.branch, protection]))
}

export async function findProtection(db: Queryable, repo: { id: number }, branch: string): Promise<Protection | undefined> {
  return (await findProtections(db, repo, [branch])).get(branch)
}

export async function loadProtection(db: Queryable, storage: Storage, repo: Repository, branch: string): Promise<Protection> {
  const protection = await findProtection(db, repo, branch)
  if (!protection || !(await findRef(storage, repo.id, `refs/heads/${branch}`))) throw await notProtected(storage, repo, branch)
  return protection
}

async function notProtected(storage: Storage, repo: Repository, branch: string) {
  const there = await findRef(storage, repo.id, `refs/heads/${branch}`)
  return new Refusal('missing', there ? 'Branch not protected' : 'Branch not found')
}

/**
 * Changes the rules of a branch. `change` gets the present rules, or undefined when the branch is not protected, and returns the new ones.
 * Concurrent changes of a branch take turns.
 */
export async function changeProtection(
  db: Transaction,
  editor: Account,
  repo: Repository,
  branch: string,
  change: (present: Protection | undefined) => Rules,
): Promise<Protection> {
  // A new rule has no row to lock.
  await db.query(sql`select pg_advisory_xact_lock(hashtextextended(${`protection ${repo.id} ${branch}`}, 0))`)
  const present = await findProtection(db, repo, branch)
  const id = await write(db, repo, branch, change(present))
  const [protection] = await loadProtections(db, [id])
  if (!protection) throw new Error('the protection was not stored')
  if (!present) await publish(db, editor, repo, { act: 'protection.created', protection_id: id })
  const changes = present && changedRules(present, protection)
  if (changes) await publish(db, editor, repo, { act: 'protection.edited', protection_id: id, changes })
  return protection
}

async function write(db: Transaction, repo: Repository, branch: string, rules: Rules): Promise<number> {
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = rules
  const row = {
    ...Object.fromEntries(switches.map((name) => [name, rules[name]])),
    repo_id: repo.id,
    branch,
    strict_checks: checks?.strict ?? null,
    approvals_count: reviews?.approvals_count ?? null,
    dismiss_stale_reviews: reviews?.dismiss_stale_reviews ?? false,
    restricts_dismissals: reviews?.dismissal_restrictions != null,
    restricts_pushes: restrictions !== null,
    created_at: db.now,
    updated_at: db.now,
  }
  const { id } = await db.load<{ id: number }>(sql`
    insert into branch_protections (repo_id, branch, strict_checks, approvals_count, dismiss_stale_reviews, restricts_dismissals,
      restricts_pushes, enforce_admins, required_linear_history, required_signatures, allow_force_pushes, allow_deletions, block_creations,
      lock_branch, allow_fork_syncing, required_conversation_resolution, created_at, updated_at)
    select repo_id, branch, strict_checks, approvals_count, dismiss_stale_reviews, restricts_dismissals,
      restricts_pushes, enforce_admins, required_linear_history, required_signatures, allow_force_pushes, allow_deletions, block_creations,
      lock_branch, allow_fork_syncing, required_conversation_resolution, created_at, updated_at
    from jsonb_populate_record(null::branch_protections, ${json(row)}::jsonb)
    on conflict (repo_id, branch) do update set strict_checks = excluded.strict_checks, approvals_count = excluded.approvals_count,
      dismiss_stale_reviews = excluded.dismiss_stale_reviews, restricts_dismissals = excluded.restricts_dismissals,
      restricts_pushes = excluded.restricts_pushes, enforce_admins = excluded.enforce_admins,
      required_linear_history = excluded.required_linear_history, required_signatures = excluded.required_signatures,
      allow_force_pushes = excluded.allow_force_pushes, allow_deletions = excluded.allow_deletions,
      block_creations = excluded.block_creations, lock_branch = excluded.lock_branch,
      allow_fork_syncing = excluded.allow_fork_syncing,
      required_conversation_resolution = excluded.required_conversation_resolution, updated_at = excluded.updated_at
    returning id`)
  await db.query(sql`delete from required_checks where protection_id = ${id}`)
  await db.query(sql`
    insert into required_checks (protection_id, context, app_id)
    select ${id}, context, app_id from jsonb_to_recordset(${json(checks?.checks ?? [])}::jsonb) as c (context text, app_id bigint)
    on conflict do nothing`)
  const actors = [
    ...rowsOf('restrictions', restrictions),
    ...rowsOf('dismissal_restrictions', reviews?.dismissal_restrictions),
    ...rowsOf('bypass_pull_request_allowances', reviews?.bypass_pull_request_allowances),
  ]
  await db.query(sql`delete from protection_actors where protection_id = ${id}`)
  await db.query(sql`
    insert into protection_actors (protection_id, list, user_id, team_id, app_id)
    select ${id}, list, user_id, team_id, app_id
    from jsonb_to_recordset(${json(actors)}::jsonb) as l (list text, user_id bigint, team_id bigint, app_id bigint) on conflict do nothing`)
  return id
}

const rowsOf = (list: ActorList, actors: Actors | null | undefined) => [
  ...(actors?.users ?? []).map(({ id }) => ({ list, user_id: id })),
  ...(actors?.teams ?? []).map(({ id }) => ({ list, team_id: id })),
  ...(actors?.apps ?? []).map(({ id }) => ({ list, app_id: id })),
]

export async function deleteProtection(db: Transaction, editor: Account, repo: Repository, branch: string) {
  const { id } = await db
    .load<{ id: number }>(sql`select id from branch_protections where repo_id = ${repo.id} and branch = ${branch} for update`)
    .catch((error) => {
      throw error instanceof Refusal ? new Refusal('missing', 'Branch not protected') : error
    })
  await publish(db, editor, repo, { act: 'protection.deleted', protection_id: id })
  await db.query(sql`delete from branch_protections where id = ${id}`)
}
