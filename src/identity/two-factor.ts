import { Secret, TOTP } from 'otpauth'
import { recordAudit } from '#activity/audit.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import type { SealedColumn } from '#platform/sealed-columns.ts'
import { digest, randomText } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'
import type { Account } from './accounts.ts'
import { digestRecoveryCode, isRecoveryCode, type RecoveryCodes, storeRecoveryCodes, takeRecoveryCode } from './recovery-codes.ts'

export type Delivery = 'app' | 'sms'

/** Sends a text message to a phone. Null if the operator has not set `BELFRY_SMS_URL`. */
export type SendText = ((phone: string, text: string) => Promise<void>) | null

export type Sending = 'sent' | 'too_soon' | 'failed'

export const tooSoon = 'A code was sent less than a minute ago. Wait a moment, and try again.'
export const notSent = 'The text message could not be sent. Wait a minute and have it sent again, or use a recovery code.'

interface Stored {
  kind: Delivery
  secret: Buffer | null
  phone: string | null
}

const period = 30
const contextOf = (user: { id: number }) => `two-factor ${user.id}`

export const sealedColumns: SealedColumn[] = [
  { table: 'two_factor', column: 'secret', id: 'user_id', owner: 'user_id', contextsOf: (id) => [contextOf({ id })] },
]

const totpOf = (user: Account, secret: string) =>
  new TOTP({ issuer: 'Belfry', label: user.login, secret: Secret.fromBase32(secret), period })

/** How the user gets one-time codes; undefined without a second factor. */
export async function findDelivery(db: Queryable, user: Account): Promise<Delivery | undefined> {
  const row = await db.first<{ kind: Delivery }>(sql`select kind from two_factor where user_id = ${user.id}`)
  return row?.kind
}

/** A new secret for an authenticator app, as text and as the address in its QR code. `enableApp` turns the second factor on. */
export function newSeed(user: Account, secret = new Secret({ size: 20 }).base32) {
  return { secret, uri: totpOf(user, secret).toString() }
}

/** Turns codes of an app on, if the code proves that the app has the secret. */
export async function enableApp(
  db: Transaction,
  vault: Vault,
  user: Account,
  { secret, code, recovery }: { secret: string; code: string; recovery: RecoveryCodes },
): Promise<boolean> {
  const step = stepOf(user, secret, code, db.now)
  if (step === undefined) return false
  await enable(db, user, { kind: 'app', secret: vault.seal(secret, contextOf(user)), phone: null }, step, recovery)
  return true
}

/** Turns codes by text message on, if the code is the one that was sent. */
export async function enableText(
  db: Transaction,
  user: Account,
  { phone, code, recovery }: { phone: string; code: string; recovery: RecoveryCodes },
): Promise<boolean> {
  if (!(await takeSentCode(db, user, code))) return false
  await enable(db, user, { kind: 'sms', secret: null, phone }, 0, recovery)
  return true
}

async function enable(db: Transaction, user: Account, { kind, secret, phone }: Stored, step: number, recovery: RecoveryCodes) {
  await db.query(sql`
    insert into two_factor (user_id, kind, secret, phone, last_step, enabled_at)
    values (${user.id}, ${kind}, ${secret}, ${phone}, ${step}, ${db.now})
    on conflict (user_id) do update set kind = excluded.kind, secret = excluded.secret, phone = excluded.phone,
      last_step = excluded.last_step, enabled_at = excluded.enabled_at`)
  await storeRecoveryCodes(db, user, recovery)
  await recordAudit(db, user, 'user.enable_two_factor', user.login)
}

export async function disableTwoFactor(db: Transaction, user: Account) {
  await db.query(sql`delete from two_factor where user_id = ${user.id}`)
  await db.query(sql`delete from recovery_codes where user_id = ${user.id}`)
}

/** A typed code, and its slow hash if it looks like a recovery code. */
export interface TypedCode {
  plain: string
  recovery_digest: Buffer | null
}

/** Call this before the transaction, because hashing is slow. */
export async function readCode(db: Queryable, user: Account, code: string): Promise<TypedCode> {
  const plain = code.trim().toLowerCase()
  return { plain, recovery_digest: isRecoveryCode(plain) ? await digestRecoveryCode(db, user, plain) : null }
}

/** Uses up a right code: it and all earlier codes are wrong afterwards. */
export async function takeCode(
  db: Transaction,
  vault: Vault,
  user: Account,
  { plain, recovery_digest }: TypedCode,
): Promise<boolean> {
  const stored = await db.first<Stored>(sql`select kind, secret, phone from two_factor where user_id = ${user.id} for update`)
  if (!stored) return false
  if (recovery_digest) return takeRecoveryCode(db, user, recovery_digest)
  if (stored.kind === 'sms') return takeSentCode(db, user, plain)
  const step = stored.secret && stepOf(user, vault.open(stored.secret, contextOf(user)), plain, db.now)
  if (typeof step !== 'number') return false
  const { rowCount } = await db.query(
    sql`update two_factor set last_step = ${step} where user_id = ${user.id} and last_step < ${step}`,
  )
  return rowCount === 1
}

/** Like `takeCode`, in a transaction of its own. Undefined for a wrong code. */
export async function spendCode(db: Database, vault: Vault, user: Account, code: string): Promise<true | undefined> {
  const read = await readCode(db, user, code)
  return (await db.transaction((transaction) => takeCode(transaction, vault, user, read))) || undefined
}

/** The time step of a code. One step early or late is accepted, because clocks differ. */
function stepOf(user: Account, secret: string, code: string, now: Date): number | undefined {
  if (!/^\d{6}$/.test(code.trim())) return undefined
  const timestamp = now.getTime()
  const delta = totpOf(user, secret).validate({ token: code.trim(), timestamp, window: 1 })
  return delta === null ? undefined : Math.floor(timestamp / 1000 / period) + delta
}

async function takeSentCode(db: Transaction, user: Account, code: string) {
  const { rowCount } = await db.query(sql`
    delete from sent_codes where user_id = ${user.id} and digest = ${digest(code.trim())} and expires_at > ${db.now}`)
  return rowCount === 1
}

/**
 * Sends a new code to the user's phone or to `new_phone`, at most once a minute. A failed message counts too, so that an unavailable provider
 * gets few requests.
 */
export async function sendCode(db: Queryable, send: SendText, user: Account, new_phone?: string): Promise<Sending> {
  const stored = await db.first<Stored>(sql`select kind, secret, phone from two_factor where user_id = ${user.id}`)
  const phone = new_phone ?? stored?.phone
  if (!phone || !send) return 'failed'
  const code = String(Number.parseInt(digest(randomText(20)).toString('hex').slice(0, 12), 16) % 1_000_000).padStart(6, '0')
  const { rowCount } = await db.query(sql`
    insert into sent_codes as s (user_id, digest, sent_at, expires_at)
    values (${user.id}, ${digest(code)}, ${db.now}, ${db.now}::timestamptz + interval '10 minutes')
    on conflict (user_id) do update set digest = excluded.digest, sent_at = excluded.sent_at, expires_at = excluded.expires_at
    where s.sent_at <= ${db.now}::timestamptz - interval '1 minute'`)
  if (!rowCount) return 'too_soon'
  return send(phone, `${code} is your Belfry sign-in code.`).then(
    () => 'sent',
    () => 'failed',
  )
}
