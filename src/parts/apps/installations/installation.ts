import type { Person } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import type { AppPermissions } from '#identity/permissions.ts'
import { administers } from '#parts/apps/apps.ts'
import { type Queryable, type Row, type Sql, sql } from '#platform/database.ts'
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
  suspended_by_app: boolean
  suspended_by_account: boolean
  created_at: Date
  updated_at: Date
}

export const personOf = (alias: Sql) =>
  sql`json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'login', ${alias}.login, 'site_admin', ${alias}.site_admin)`

const columns = sql`i.id, i.app_id, p.slug as app_slug, c.client_id, ${personOf(sql`a`)} as account, i.all_repositories, i.permissions, i.events,
  i.suspended_at, (select ${personOf(sql`s`)} from accounts s where s.id = i.suspended_by) as suspended_by, i.suspended_by_app, i.suspended_by_account, i.created_at, i.updated_at`

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
