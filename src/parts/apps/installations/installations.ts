import type { Account, Person } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import type { AppPermissions } from '#identity/permissions.ts'
import { administers } from '#parts/apps/apps.ts'
import { codeOf, type Queryable, type Row, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface Installation extends Row {
  id: number
  app_id: number
  app_slug: string
  client_id: string
  account: Person
  all_repositories: boolean
  permissions: AppPermissions
  events: string[]
  suspended_at: Date | null
  suspended_by: Person | null
  created_at: Date
  updated_at: Date
}

const person = (alias: Sql) =>
  sql`json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'login', ${alias}.login, 'site_admin', ${alias}.site_admin)`

const columns = sql`i.id, i.app_id, p.slug as app_slug, c.client_id, ${person(sql`a`)} as account, i.all_repositories, i.permissions, i.events,
  i.suspended_at, (select ${person(sql`s`)} from accounts s where s.id = i.suspended_by) as suspended_by, i.created_at, i.updated_at`

const source = sql`installations i join apps p on p.id = i.app_id join applications c on c.id = p.application_id join accounts a on a.id = i.account_id`

export async function loadInstallation(db: Queryable, condition: Sql): Promise<Installation> {
  return db.load<Installation>(sql`select ${columns} from ${source} where ${condition}`)
}

export function listInstallations(db: Queryable, condition: Sql, slice: Slice): Promise<Listed<Installation>> {
  const counted = sql`installations i where ${condition}`
  return listed(db, { columns, source: sql`${source} where ${condition}`, counted, order: sql`i.id` }, slice)
}

/** An installation of this app. Those of other apps are not found. */
export const loadOfApp = (db: Queryable, app: App, id: number) => loadInstallation(db, sql`i.id = ${id} and i.app_id = ${app.id}`)

/** An installation on an account that the user administers. */
export const loadAdministered = (db: Queryable, user: { id: number }, id: number) =>
  loadInstallation(db, sql`i.id = ${id} and ${administers(user, sql`i.account_id`)}`)

/** A condition: the installation `i` is on an account that the user is, or is a member of. */
export const reachableBy = (user: { id: number }) => sql`(i.account_id = ${user.id} or exists (
  select from memberships m where m.org_id = i.account_id and m.user_id = ${user.id}))`

/** A condition: the installation includes the repository `r`. */
export const included = ({ id, account, all_repositories }: Installation) =>
  all_repositories
    ? sql`r.owner_id = ${account.id}`
    : sql`r.owner_id = ${account.id} and r.id in (select l.repo_id from installation_repositories l where l.installation_id = ${id})`

/** Null for all repositories, present and future. */
type Chosen = readonly number[] | null

/** Installs an app on a user or an organization. The caller has checked that the installer administers it. */
export async function install(db: Transaction, app: App, account: Account, repository_ids: Chosen): Promise<Installation> {
  if (!app.public && app.owner_id !== account.id) {
    const message = 'This app is private. Only its owner can install it.'
    throw invalid({ resource: 'IntegrationInstallation', code: 'custom', field: 'app_slug', message })
  }
  const id = await insert(db, app, account, repository_ids === null)
  if (repository_ids) await addRepositories(db, { id, account }, repository_ids)
  return loadInstallation(db, sql`i.id = ${id}`)
}

async function insert(db: Transaction, app: App, account: Account, all_repositories: boolean): Promise<number> {
  try {
    const { id } = await db.load<{ id: number }>(sql`
      insert into installations (app_id, account_id, all_repositories, permissions, events, created_at, updated_at)
      values (${app.id}, ${account.id}, ${all_repositories}, ${JSON.stringify(app.permissions)}::jsonb, ${app.events}, ${db.now}, ${db.now})
      returning id`)
    return id
  } catch (error) {
    if (codeOf(error) !== '23505') throw error
    const message = `The app is already installed on ${account.login}.`
    throw invalid({ resource: 'IntegrationInstallation', code: 'already_exists', field: 'app_slug', message })
  }
}

/** The repositories must belong to the account. Returns those that are new. */
export async function addRepositories(
  db: Transaction,
  { id, account }: Pick<Installation, 'id' | 'account'>,
  ids: readonly number[],
) {
  const wanted = [...new Set(ids)]
  const found = await db.rows<{ id: number }>(sql`
    select id from repositories where owner_id = ${account.id} and id = any(${wanted}::bigint[])`)
  if (found.length < wanted.length) throw missing()
  const added = await db.rows<{ repo_id: number }>(sql`
    insert into installation_repositories (installation_id, repo_id) select ${id}, unnest(${wanted}::bigint[])
    on conflict do nothing returning repo_id`)
  await touch(db, id)
  return added.map(({ repo_id }) => repo_id)
}

export async function removeRepositories(db: Transaction, { id }: Pick<Installation, 'id'>, ids: readonly number[]) {
  const removed = await db.rows<{ repo_id: number }>(sql`
    delete from installation_repositories where installation_id = ${id} and repo_id = any(${ids}::bigint[]) returning repo_id`)
  await touch(db, id)
  return removed.map(({ repo_id }) => repo_id)
}

const touch = (db: Transaction, id: number) => db.query(sql`update installations set updated_at = ${db.now} where id = ${id}`)

/** Replaces the choice of repositories. */
export async function chooseRepositories(db: Transaction, installation: Installation, chosen: Chosen) {
  const { id } = installation
  const former = await db.rows<{ repo_id: number }>(
    sql`select repo_id from installation_repositories where installation_id = ${id} for update`,
  )
  const kept = new Set(chosen ?? [])
  const gone = former.map(({ repo_id }) => repo_id).filter((repo_id) => !kept.has(repo_id))
  const removed = await removeRepositories(db, installation, gone)
  const added = chosen ? await addRepositories(db, installation, chosen) : []
  await db.query(sql`update installations set all_repositories = ${chosen === null} where id = ${id}`)
  return { removed, added }
}

/** Its tokens stop working at once, and its repositories send it no events. */
export async function suspendInstallation(db: Transaction, { id }: Installation, by: number) {
  await db.query(sql`
    update installations set suspended_at = ${db.now}, suspended_by = ${by}, updated_at = ${db.now} where id = ${id} and suspended_at is null`)
}

export async function unsuspendInstallation(db: Transaction, { id }: Installation) {
  await db.query(sql`update installations set suspended_at = null, suspended_by = null, updated_at = ${db.now} where id = ${id}`)
}

/** Its tokens are deleted too. */
export async function uninstall(db: Transaction, { id }: Installation) {
  await db.query(sql`delete from installations where id = ${id}`)
}

export const suspended = () => new Refusal('forbidden', 'This installation has been suspended')
