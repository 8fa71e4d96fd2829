import { recordAudit } from '#activity/audit.ts'
import type { App } from '#identity/apps.ts'
import { type AppPermissions, lowerPermissions } from '#identity/permissions.ts'
import { json, sql, type Transaction } from '#platform/database.ts'
import { checkAppEvents, checkAppPermissions, eventsWithin } from './events.ts'

interface WantedAccess {
  permissions: Record<string, string>
  events: string[]
}

/**
 * Changes what an app asks for. Installations lose at once what it no longer asks for, and get more when the account accepts it. New events
 * that accepted permissions include are sent at once.
 */
export async function changeAppAccess(db: Transaction, editor: { id: number }, app: App, wanted: WantedAccess) {
  const permissions = checkAppPermissions(wanted.permissions)
  const events = checkAppEvents(wanted.events, permissions)
  // Locks the row, so that nobody installs the app or accepts its permissions meanwhile.
  await db.query(sql`
    update apps set permissions = ${json(permissions)}::jsonb, events = ${events}, updated_at = ${db.now} where id = ${app.id}`)
  await db.query(sql`update hooks set events = ${events}, updated_at = ${db.now} where app_id = ${app.id}`)
  const accepted = await db.rows<{ permissions: AppPermissions }>(sql`
    select distinct permissions from installations where app_id = ${app.id}`)
  const changes = accepted.map(({ permissions: former }) => {
    const latest = lowerPermissions(former, permissions)
    return { former, latest, events: eventsWithin(events, latest) }
  })
  await db.query(sql`
    update installations i set permissions = c.latest, events = c.events, updated_at = ${db.now}
    from jsonb_to_recordset(${json(changes)}::jsonb) as c (former jsonb, latest jsonb, events text[])
    where i.app_id = ${app.id} and i.permissions = c.former and (c.latest <> i.permissions or c.events <> i.events)`)
  await recordAudit(db, editor, 'app.change_access', app.slug)
}
