import type { Belfry } from '#belfry.ts'
import { createUser } from '#hosting/people/people.ts'
import { allScopes } from '#identity/scopes.ts'
import { createToken, setOperatorsToken } from '#identity/tokens.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import { enqueue } from '#platform/queue.ts'
import { digest, hashPassword, randomText } from '#platform/secrets.ts'
import { type Account, accountColumns } from './identity/accounts.ts'

/** Printed once, by the first start. */
export interface FirstAdmin {
  login: string
  password: string
  token: string
}

/** Creates the site admin on the first start, once even if several nodes start together, and sets the operator's token. */
export async function setUp({ db, settings }: Belfry): Promise<FirstAdmin | undefined> {
  const password = randomText(20)
  const password_hash = (await findAdmin(db)) ? null : await hashPassword(password)
  return db.transaction(async (transaction) => {
    await transaction.query(sql`select pg_advisory_xact_lock(${lock})`)
    const found = await findAdmin(transaction)
    const admin = found ?? (await createUser(transaction, { login: 'admin', email: null, password_hash, site_admin: true }))
    await removeSameToken(transaction, admin, settings.BELFRY_ADMIN_TOKEN)
    await setOperatorsToken(transaction, admin, settings.BELFRY_ADMIN_TOKEN, allScopes)
    await upgradeRecoveryCodes(transaction)
    if (found) return undefined
    const { token } = await createToken(transaction, admin, { note: 'First start', scopes: allScopes })
    return { login: admin.login, password, token }
  })
}
const lock = 0x61646d69

/** The operator may choose a token that the admin already has, such as the one that the first start printed. */
async function removeSameToken(db: Transaction, admin: Account, token: string | null) {
  if (token === null) return
  const found = await db.first<{ id: number; user_id: number }>(
    sql`select id, user_id from tokens where digest = ${digest(token)}`,
  )
  if (!found) return
  if (found.user_id !== admin.id) throw new StartError('BELFRY_ADMIN_TOKEN is a token of another user. Set it to a new one.')
  await db.query(sql`delete from tokens where id = ${found.id}`)
}

/** A job, because it takes 0.1 s for each user with a second factor. */
async function upgradeRecoveryCodes(db: Transaction) {
  const left = await db.first(sql`select from two_factor where recovery_salt is null limit 1`)
  if (left) await enqueue(db, 'slow_recovery_codes', {}, { key: 'slow_recovery_codes' })
}

function findAdmin(db: Queryable) {
  return db.first<Account>(sql`select ${accountColumns} from accounts a where lower(a.login) = 'admin'`)
}
