import type { Account } from '#identity/accounts.ts'
import { badCredentials } from '#identity/callers.ts'
import { guessAtAccount } from '#identity/login-throttle.ts'
import { checkPassword } from '#identity/passwords.ts'
import { type Origin, openSession, type Session } from '#identity/sessions.ts'
import { findDelivery, readCode, type SendText, sendCode, takeCode } from '#identity/two-factor.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'

/** The first step: login and password. With a second factor, the session is valid for entering the code only. */
export async function signIn(db: Database, send_text: SendText, login: string, password: string, origin: Origin) {
  const user = await checkPassword(db, { login, address: origin.address }, password)
  if (!user) throw badCredentials()
  const delivery = await findDelivery(db, user)
  // Undefined if the code comes from an app.
  const sending = delivery === 'sms' ? await sendCode(db, send_text, user) : undefined
  const token = await db.transaction((transaction) => openSession(transaction, user, origin, delivery !== undefined))
  return { user, token, awaits_code: delivery !== undefined, sending }
}

/** The second step: the code. A new session replaces the waiting one, whose token may be known to others. */
export async function finishSignIn(
  db: Database,
  vault: Vault,
  user: Account,
  waiting: Session,
  code: string,
  origin: Origin,
): Promise<string | undefined> {
  return guessAtAccount(db, user, origin.address, async () => {
    const read = await readCode(db, user, code)
    return db.transaction(async (transaction) => {
      if (!(await takeCode(transaction, vault, user, read))) return undefined
      await transaction.query(sql`delete from sessions where id = ${waiting.id}`)
      return openSession(transaction, user, origin, false)
    })
  })
}
