import { randomInt } from 'node:crypto'
import type { Account } from '#identity/accounts.ts'
import { countAttempt, limitsFrom } from '#identity/attempts.ts'
import { type Application, findApplication, findClient } from '#identity/clients.ts'
import { guessAtDevice } from '#identity/login-throttle.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { digest, randomText } from '#platform/secrets.ts'
import { scopesFor } from './authorize.ts'
import type { ClientRequest, Failed, Issued } from './client-request.ts'
import { issueToken, recordGrant } from './grants.ts'

export const lifetimeSeconds = 900

/** A device cannot keep a secret, so the client id is enough; a secret that is sent must be right. */
async function identify(db: Database, { parameters: { client_id = '', client_secret }, address }: ClientRequest) {
  return client_secret === undefined ? findApplication(db, client_id) : findClient(db, { client_id, client_secret, address })
}

/** The maximum number of new codes within their lifetime, from a network and for an application. */
const mostFromNetwork = 50
const mostOfClient = 5000

/** Client ids are public and anyone may request codes, so requests are limited. */
export async function startDevice(
  db: Database,
  request: ClientRequest,
): Promise<Awaited<ReturnType<typeof openDevice>> | Failed> {
  const application = await identify(db, request)
  if (!application) return { error: 'incorrect_client_credentials' }
  const limits = [
    ...limitsFrom('device codes', request.address, mostFromNetwork),
    { subject: `device codes of ${application.client_id}`, most: mostOfClient },
  ]
  await countAttempt(db, limits, lifetimeSeconds / 60, 'Too many device codes were asked for. Try again later.')
  const scopes = scopesFor(application, request.parameters.scope)
  return db.transaction((transaction) => openDevice(transaction, application, scopes))
}

async function openDevice(db: Transaction, application: Application, scopes: string[] | null) {
  const device_code = randomText(40)
  const user_code = newUserCode()
  await db.query(sql`delete from device_codes where expires_at < ${db.now}::timestamptz - interval '1 hour' or user_code = ${user_code}
    and expires_at < ${db.now}`)
  await db.query(sql`
    insert into device_codes (digest, user_code, application_id, scopes, created_at, expires_at)
    values (${digest(device_code)}, ${user_code}, ${application.id}, ${scopes}, ${db.now},
      ${db.now}::timestamptz + ${lifetimeSeconds} * interval '1 second')`)
  return { device_code, user_code, interval: 5 }
}

/** Consonants only: they form no words, and none looks like a digit. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

function newUserCode() {
  const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

interface DeviceRow {
  digest: Buffer
  scopes: string[] | null
  interval_seconds: number
  user_id: number | null
  allowed: boolean | null
  fresh: boolean
  hasty: boolean
}

/** The steps from a device code to a token, in order. */
export async function exchangeDeviceCode(db: Database, request: ClientRequest): Promise<Issued | Failed> {
  const application = await identify(db, request)
  if (!application) return { error: 'incorrect_client_credentials' }
  const code = request.parameters.device_code ?? ''
  return db.transaction((transaction) => pollDevice(transaction, application, code))
}

async function pollDevice(db: Transaction, application: Application, code: string): Promise<Issued | Failed> {
  const device = await findDevice(db, application, code)
  if (!device) return { error: 'incorrect_device_code' }
  if (!device.fresh) return { error: 'expired_token' }
  const interval = await recordPoll(db, device)
  if (device.hasty) return { error: 'slow_down', interval }
  if (device.user_id === null || device.allowed === null) return { error: 'authorization_pending' }
  if (!device.allowed) return { error: 'access_denied' }
  return give(db, application, device, device.user_id)
}

function findDevice(db: Transaction, application: Application, code: string): Promise<DeviceRow | undefined> {
  return db.first<DeviceRow>(sql`
    select d.digest, d.scopes, d.interval_seconds, d.user_id, d.allowed, d.expires_at > ${db.now} as fresh,
      coalesce(d.polled_at + d.interval_seconds * interval '1 second' > ${db.now}, false) as hasty
    from device_codes d where d.digest = ${digest(code)} and d.application_id = ${application.id} for update`)
}

/** Polling too soon makes the interval five seconds longer. */
async function recordPoll(db: Transaction, device: DeviceRow) {
  const interval = device.interval_seconds + (device.hasty ? 5 : 0)
  await db.query(
    sql`update device_codes set polled_at = ${db.now}, interval_seconds = ${interval} where digest = ${device.digest}`,
  )
  return interval
}

async function give(db: Transaction, application: Application, device: DeviceRow, user_id: number): Promise<Issued | Failed> {
  await db.query(sql`delete from device_codes where digest = ${device.digest}`)
  const scopes = device.scopes ?? []
  const issued = await issueToken(db, application, { user_id, scopes })
  return issued ? { ...issued, scopes } : { error: 'access_denied' }
}

/** A device that waits for a decision. */
export interface WaitingDevice {
  user_code: string
  client_id: string
  /** Null if it requested none: then it gets all scopes that were granted before. */
  scopes: string[] | null
}

/** Accepts the code in either case, with or without the hyphen. Guesses are limited. */
export async function findWaiting(
  db: Database,
  user: Account,
  address: string,
  typed: string,
): Promise<WaitingDevice | undefined> {
  const plain = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
  return guessAtDevice(db, user, address, () =>
    db.first<WaitingDevice>(sql`
      select d.user_code, p.client_id, d.scopes from device_codes d join applications p on p.id = d.application_id
      where d.user_code = ${`${plain.slice(0, 4)}-${plain.slice(4)}`} and d.allowed is null and d.expires_at > ${db.now}`),
  )
}

/** False if the code was decided already, or has expired. */
export async function decideDevice(
  db: Transaction,
  user: Account,
  application: Application,
  { user_code, scopes }: WaitingDevice,
  allowed: boolean,
): Promise<boolean> {
  const decided = await db.first<{ digest: Buffer }>(sql`
    update device_codes set user_id = ${user.id}, allowed = ${allowed}
    where user_code = ${user_code} and application_id = ${application.id} and allowed is null and expires_at > ${db.now} returning digest`)
  if (!decided) return false
  if (!allowed) return true
  // After the decision, so that a code which was too late leaves no grant.
  const grant = await recordGrant(db, application, user, scopes ?? [])
  await db.query(sql`update device_codes set scopes = ${scopes ?? grant.scopes} where digest = ${decided.digest}`)
  return true
}
