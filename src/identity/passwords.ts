import { type Database, type Queryable, sql } from '#platform/database.ts'
import { forbidden, invalid } from '#platform/errors.ts'
import { hashPassword, randomText, verifyPassword } from '#platform/secrets.ts'
import { type Account, accountColumns } from './accounts.ts'
import { guessByName } from './login-throttle.ts'

/** A password is tried with a login or an e-mail address. */
export interface Guess {
  login: string
  address: string
}

/** The user with this password, or undefined. A name that does not exist takes equally long. Refuses a suspended user. */
export async function checkPassword(db: Database, { login, address }: Guess, password: string): Promise<Account | undefined> {
  // PostgreSQL text cannot contain a null character, so no login has one.
  if (login.includes('\0')) return undefined
  const found = await findByName(db, login)
  const matched = await guessByName(db, { name: login, address, accounts: found }, async () => {
    // An unknown address takes as many hashes as one with several accounts.
    const tried = Array.from({ length: isAddress(login) ? mostByAddress : 1 }, (_, index) => found[index])
    const right = await Promise.all(tried.map((account) => verifyPassword(account?.password_hash, password)))
    const matches = tried.filter((account, index) => account && right[index])
    const match = matches.find((account) => !account?.suspended_at) ?? matches[0]
    if (!match) return undefined
    const { password_hash: _, ...user } = match
    return user
  })
  // Shown only after the right password.
  if (matched?.suspended_at) throw forbidden('This account is suspended. Ask the operator of this server to reactivate it.')
  return matched
}

/** A login cannot contain an @. */
const isAddress = (name: string) => name.includes('@')

/**
 * Several accounts may have the same address. We try the one that verified it and the two that claimed it last. So a user who has just claimed
 * an address can sign in with it, and does not learn whether another account has it too.
 */
const mostByAddress = 3

/** Logins are ASCII. In PostgreSQL, `lower('İ')` is an ASCII letter, so another spelling would open the account. */
const isLogin = (name: string) => /^[\x21-\x7e]+$/.test(name)

async function findByName(db: Database, name: string) {
  if (!isAddress(name) && !isLogin(name)) return []
  const select = sql`select ${accountColumns}, a.password_hash from accounts a where a.type = 'User'`
  const claims = sql`${select} and lower(a.email) = lower(${name})`
  return db.rows<Account & { password_hash: string | null }>(
    isAddress(name)
      ? sql`(${claims} and a.email_verified) union all
        (${claims} and not a.email_verified order by a.email_claimed_at desc, a.id desc limit ${mostByAddress - 1})`
      : sql`${select} and lower(a.login) = lower(${name})`,
  )
}

/** The length of a new password, in UTF-16 units. */
export const [shortestPassword, longestPassword] = [8, 256]

/** A password for a user who gets one from an administrator. */
export const newPassword = () => randomText(20)

/** Checks the length of a new password and hashes it. */
export async function preparePassword(password: string): Promise<string> {
  if (password.length < shortestPassword || password.length > longestPassword) {
    const message = `A password has ${shortestPassword} to ${longestPassword} characters.`
    throw invalid({ resource: 'User', code: 'invalid', field: 'password', message })
  }
  return hashPassword(password)
}

export async function setPassword(db: Queryable, user: Account, password_hash: string) {
  await db.query(sql`update accounts set password_hash = ${password_hash}, updated_at = ${db.now} where id = ${user.id}`)
}
