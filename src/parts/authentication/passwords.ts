import { type Account, accountColumns } from '#hosting/people/people.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { hashPassword, verifyPassword } from '#platform/secrets.ts'
import { checkGuessing, type Guess, recordFailure } from './guessing.ts'

/** The user whose password this is, or undefined. Takes as long for names that nobody has. */
export async function checkPassword(db: Queryable, guess: Guess, password: string): Promise<Account | undefined> {
  // The database takes no null character, and nobody's name has one.
  if (guess.login.includes('\0')) return undefined
  const found = await db.first<Account & { password_hash: string | null }>(sql`
    select ${accountColumns}, a.password_hash from accounts a
    where (lower(a.login) = lower(${guess.login}) or lower(a.email) = lower(${guess.login})) and a.type = 'User' and a.suspended_at is null`)
  // By whichever name they were called, tries at one account count together.
  const counted = { ...guess, login: found?.login ?? guess.login }
  await checkGuessing(db, counted)
  if (found && (await verifyPassword(found.password_hash, password))) {
    const { password_hash: _, ...user } = found
    return user
  }
  if (!found) await verifyPassword(undefined, password)
  await recordFailure(db, counted)
  return undefined
}

/** A password to be stored: long enough to be worth guessing at. */
export async function preparePassword(password: string): Promise<string> {
  if (password.length < 8 || password.length > 256) {
    throw invalid({ resource: 'User', code: 'invalid', field: 'password', message: 'A password has 8 to 256 characters.' })
  }
  return hashPassword(password)
}

export async function setPassword(db: Queryable, user: Account, password_hash: string) {
  await db.query(sql`update accounts set password_hash = ${password_hash}, updated_at = ${db.now} where id = ${user.id}`)
}
