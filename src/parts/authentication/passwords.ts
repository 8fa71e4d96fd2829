import { type Account, accountColumns } from '#hosting/people/people.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { hashPassword, verifyPassword } from '#platform/secrets.ts'
import { type Guess, guessAtAccount } from './guessing.ts'

/** The user whose password this is, or undefined. Takes as long for names that nobody has. */
export async function checkPassword(db: Database, guess: Guess, password: string): Promise<Account | undefined> {
  // The database takes no null character, and nobody's name has one.
  if (guess.login.includes('\0')) return undefined
  // By whichever name they were called, tries at one account count together.
  const login = (await findByName(db, guess.login))?.login ?? guess.login
  return guessAtAccount(db, { ...guess, login }, async () => {
    // Read again: the guess may have waited, and the password been changed meanwhile.
    const found = await findByName(db, guess.login)
    if (!(await verifyPassword(found?.password_hash, password)) || !found) return undefined
    const { password_hash: _, ...user } = found
    return user
  })
}

function findByName(db: Database, name: string) {
  return db.first<Account & { password_hash: string | null }>(sql`
    select ${accountColumns}, a.password_hash from accounts a
    where (lower(a.login) = lower(${name}) or lower(a.email) = lower(${name})) and a.type = 'User' and a.suspended_at is null`)
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
