import { recordAudit } from '#activity/audit.ts'
import { checkNotSuspended } from '#identity/access.ts'
import type { Account, Person } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { codeOf, sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid, missing } from '#platform/errors.ts'
import { type Installation, included, loadInstallation } from './installation.ts'
import { enqueueInstallationEvent, enqueueRepositoriesEvent } from './installation-events.ts'
import { endRequests } from './requests.ts'

type InstallationAct = 'create' | 'change_repositories' | 'accept_permissions' | 'suspend' | 'unsuspend' | 'delete'

/** Null for all repositories, present and future. */
type Chosen = readonly number[] | null

/** Installs an app on a user or an organization. The caller has checked that the installer administers it. */
export async function install(
  db: Transaction,
  installer: Person,
  app: App,
  account: Account,
  repository_ids: Chosen,
): Promise<Installation> {
  checkInstallable(app, account)
  const id = await insert(db, app, account, repository_ids === null)
  const requester = await endRequests(db, app, account)
  if (repository_ids) await includeRepositories(db, { id, account }, repository_ids)
  const installation = await loadInstallation(db, sql`i.id = ${id}`)
  await record(db, installer, installation, 'create')
  await enqueueInstallationEvent(db, installer, installation, 'created', included(installation), requester)
  return installation
}

const record = (db: Transaction, by: Person, { app_slug, account }: Installation, act: InstallationAct) =>
  recordAudit(db, by, `installation.${act}`, `${account.login}: ${app_slug}`)

/** A private app is installed by its owner only. */
export function checkInstallable(app: App, account: Account) {
  checkNotSuspended(account)
  if (app.public || app.owner_id === account.id) return
  const message = 'This app is private. Only its owner can install it.'
  throw invalid({ resource: 'IntegrationInstallation', code: 'custom', field: 'app_slug', message })
}

async function insert(db: Transaction, app: App, account: Account, all_repositories: boolean): Promise<number> {
  try {
    const { id } = await db.load<{ id: number }>(sql`
      insert into installations (app_id, account_id, all_repositories, permissions, events, created_at, updated_at)
      select p.id, ${account.id}, ${all_repositories}, p.permissions, p.events, ${db.now}, ${db.now} from apps p where p.id = ${app.id} for share
      returning id`)
    return id
  } catch (error) {
    if (codeOf(error) !== '23505') throw error
    const message = `The app is already installed on ${account.login}.`
    throw invalid({ resource: 'IntegrationInstallation', code: 'already_exists', field: 'app_slug', message })
  }
}

/** The repositories must belong to the account. */
async function includeRepositories(
  db: Transaction,
  { id, account }: Pick<Installation, 'id' | 'account'>,
  ids: readonly number[],
) {
  const wanted = [...new Set(ids)]
  const found = await db.rows(sql`select id from repositories where owner_id = ${account.id} and id = any(${wanted}::bigint[])`)
  if (found.length < wanted.length) throw missing()
  await db.query(sql`
    insert into installation_repositories (installation_id, repo_id) select ${id}, unnest(${wanted}::bigint[]) on conflict do nothing`)
}

/** What changes about the choice of repositories. */
export interface Choice {
  all_repositories: boolean
  add: readonly number[]
  remove: readonly number[]
}

/** Changes the choice, and sends the app which repositories it gained and lost. */
export async function changeChoice(
  db: Transaction,
  editor: Person,
  { id }: Installation,
  { all_repositories, add, remove }: Choice,
) {
  // Locked, so that concurrent changes take turns, and each is compared with the one before.
  await db.query(sql`select from installations where id = ${id} for no key update`)
  const former = await listIncluded(db, await loadInstallation(db, sql`i.id = ${id}`))
  await db.query(sql`update installations set all_repositories = ${all_repositories}, updated_at = ${db.now} where id = ${id}`)
  await db.query(sql`
    delete from installation_repositories
    where installation_id = ${id} and (${all_repositories}::boolean or repo_id = any(${remove}::bigint[]))`)
  const installation = await loadInstallation(db, sql`i.id = ${id}`)
  await includeRepositories(db, installation, add)
  const latest = await listIncluded(db, installation)
  const [added, removed] = [[...latest].filter((one) => !former.has(one)), [...former].filter((one) => !latest.has(one))]
  await record(db, editor, installation, 'change_repositories')
  await enqueueRepositoriesEvent(db, editor, installation, 'added', added)
  await enqueueRepositoriesEvent(db, editor, installation, 'removed', removed)
  return { added, removed }
}

async function listIncluded(db: Transaction, installation: Installation): Promise<Set<number>> {
  const rows = await db.rows<{ id: number }>(sql`select r.id from repositories r where ${included(installation)}`)
  return new Set(rows.map(({ id }) => id))
}

export async function addRepository(db: Transaction, editor: Person, installation: Installation, repo_id: number) {
  await changeChoice(db, editor, installation, { all_repositories: false, add: [repo_id], remove: [] })
}

export async function removeRepository(db: Transaction, editor: Person, installation: Installation, repo_id: number) {
  const { removed } = await changeChoice(db, editor, installation, { all_repositories: false, add: [], remove: [repo_id] })
  if (!removed.length) throw missing()
}

/** Who suspends an installation: the app itself, or those who administer the account. */
const sideOf = ({ type }: Person) => (type === 'Bot' ? sql`suspended_by_app` : sql`suspended_by_account`)

/** Its tokens stop working at once, and its repositories send it no events. Again changes nothing. */
export async function suspendInstallation(db: Transaction, by: Person, former: Installation) {
  const { id } = former
  const { rowCount } = await db.query(sql`
    update installations set suspended_at = ${db.now}, suspended_by = ${by.id}, updated_at = ${db.now} where id = ${id} and suspended_at is null`)
  await db.query(sql`update installations set ${sideOf(by)} = true where id = ${id}`)
  await record(db, by, former, 'suspend')
  if (!rowCount) return
  const installation = await loadInstallation(db, sql`i.id = ${id}`)
  await enqueueInstallationEvent(db, by, installation, 'suspend', included(installation))
}

/** Ends the suspension of one side. The installation stays suspended while the other side suspends it. */
export async function unsuspendInstallation(db: Transaction, by: Person, former: Installation) {
  const { id, suspended_at } = former
  const own = await db.query(sql`update installations set ${sideOf(by)} = false where id = ${id} and ${sideOf(by)}`)
  if (suspended_at && !own.rowCount) {
    const other = by.type === 'Bot' ? 'An owner of the account' : 'The app'
    throw forbidden(`${other} suspended this installation, and must resume it.`)
  }
  if (own.rowCount) await record(db, by, former, 'unsuspend')
  const { rowCount } = await db.query(sql`
    update installations set suspended_at = null, suspended_by = null, updated_at = ${db.now}
    where id = ${id} and suspended_at is not null and not suspended_by_app and not suspended_by_account`)
  if (!rowCount) return
  const installation = await loadInstallation(db, sql`i.id = ${id}`)
  await enqueueInstallationEvent(db, by, installation, 'unsuspend', included(installation))
}

/**
 * Accepts what the app asked for when it was changed at `asked_at`. Returns false if it was changed again since: the account must see first
 * what it accepts.
 */
export async function acceptPermissions(db: Transaction, by: Person, { id }: Installation, asked_at: Date): Promise<boolean> {
  // Locked, because the permissions of the app are copied.
  const app = await db.first<{ id: number }>(sql`
    select p.id from apps p join installations i on i.app_id = p.id
    where i.id = ${id} and p.updated_at = ${asked_at} for share of p`)
  if (!app) return false
  const { rowCount } = await db.query(sql`
    update installations i set permissions = p.permissions, events = p.events, updated_at = ${db.now} from apps p
    where i.id = ${id} and p.id = i.app_id and (p.permissions <> i.permissions or p.events <> i.events)`)
  if (!rowCount) return true
  const installation = await loadInstallation(db, sql`i.id = ${id}`)
  await record(db, by, installation, 'accept_permissions')
  await enqueueInstallationEvent(db, by, installation, 'new_permissions_accepted', included(installation))
  return true
}

/** Its tokens are deleted too. */
export async function uninstall(db: Transaction, by: Person, installation: Installation) {
  await record(db, by, installation, 'delete')
  await enqueueInstallationEvent(db, by, installation, 'deleted', included(installation))
  await db.query(sql`delete from installations where id = ${installation.id}`)
}
