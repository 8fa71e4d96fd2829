import type { Account, Person } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { administers } from '#parts/apps/apps.ts'
import { type Queryable, type Row, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { personOf } from './installation.ts'

/** A member of an organization asks its owners to install an app. */
export interface InstallationRequest extends Row {
  id: number
  app_slug: string
  account: Person
  requester: Person
  created_at: Date
}

const columns = sql`q.id, p.slug as app_slug, ${personOf(sql`a`)} as account, ${personOf(sql`b`)} as requester, q.created_at`

/** The request of a user who left the organization does not count. */
const source = sql`installation_requests q join apps p on p.id = q.app_id join accounts a on a.id = q.account_id join accounts b on b.id = q.requester_id
  join memberships m on m.org_id = q.account_id and m.user_id = q.requester_id`

function listRequests(db: Queryable, condition: Sql, slice: Slice): Promise<Listed<InstallationRequest>> {
  return listed(db, { columns, source: sql`${source} where ${condition}`, order: sql`q.id` }, slice)
}

export const listRequestsForApp = (db: Queryable, app: { id: number }, slice: Slice) =>
  listRequests(db, sql`q.app_id = ${app.id}`, slice)

/** Requests that a user may end: those to organizations that they own, and their own. */
export const listRequestsOf = (db: Queryable, user: { id: number }, slice: Slice) => listRequests(db, endableBy(user), slice)

const endableBy = (user: { id: number }) => sql`(q.requester_id = ${user.id} or ${administers(user, sql`q.account_id`)})`

/** Again changes nothing. The caller has checked that the requester is a member. */
export async function requestInstallation(db: Transaction, requester: Account, app: App, account: Account) {
  if (await db.first(sql`select from installations where app_id = ${app.id} and account_id = ${account.id}`)) {
    const message = `The app is already installed on ${account.login}.`
    throw invalid({ resource: 'IntegrationInstallation', code: 'already_exists', field: 'app_slug', message })
  }
  await db.query(sql`
    insert into installation_requests (app_id, account_id, requester_id, created_at)
    values (${app.id}, ${account.id}, ${requester.id}, ${db.now}) on conflict do nothing`)
}

/** Declines a request, or withdraws one's own. */
export async function endRequest(db: Transaction, user: { id: number }, id: number) {
  const { rowCount } = await db.query(sql`delete from installation_requests q where q.id = ${id} and ${endableBy(user)}`)
  if (!rowCount) throw missing()
}

/** Installing the app accepts all requests for it. Returns the user who asked first. */
export async function endRequests(db: Transaction, app: { id: number }, account: { id: number }): Promise<Person | null> {
  const slice = { limit: 1, offset: 0 }
  const { rows } = await listRequests(db, sql`q.app_id = ${app.id} and q.account_id = ${account.id}`, slice)
  await db.query(sql`delete from installation_requests where app_id = ${app.id} and account_id = ${account.id}`)
  return rows[0]?.requester ?? null
}
