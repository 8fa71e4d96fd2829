import { recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { guessAtAccount } from '#identity/login-throttle.ts'
import { checkPassword, preparePassword, setPassword } from '#identity/passwords.ts'
import { newRecoveryCodes, storeRecoveryCodes } from '#identity/recovery-codes.ts'
import { closeOtherSessions, confirmSession, isConfirmed, type Session } from '#identity/sessions.ts'
import { disableTwoFactor, spendCode } from '#identity/two-factor.ts'
import type { Database } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import type { Vault } from '#platform/vault.ts'

/** A user in their own settings, with the session and the client. */
export interface Owner {
  user: Account
  session: Session
  address: string
}

/** Proof of identity: the password or a one-time code. */
export interface Proof {
  password: string
  code: string
}

/** Ends all other sessions of the user. */
export async function changePassword(db: Database, { user, session, address }: Owner, current: string, wanted: string) {
  if (!(await checkPassword(db, { login: user.login, address }, current))) throw wrong('The current password is wrong.')
  const password_hash = await preparePassword(wanted)
  await db.transaction(async (transaction) => {
    await setPassword(transaction, user, password_hash)
    await recordAudit(transaction, user, 'user.change_password', user.login)
    await closeOtherSessions(transaction, user, session)
    await confirmSession(transaction, session)
  })
}

export async function turnOffTwoFactor(db: Database, vault: Vault, owner: Owner, proof: Proof) {
  await checkProof(db, vault, owner, proof)
  await db.transaction(async (transaction) => {
    await disableTwoFactor(transaction, owner.user)
    await recordAudit(transaction, owner.user, 'user.disable_two_factor', owner.user.login)
    await closeOtherSessions(transaction, owner.user, owner.session)
  })
}

/** Replaces the user's earlier codes. */
export async function renewRecoveryCodes(db: Database, vault: Vault, owner: Owner, proof: Proof): Promise<string[]> {
  await checkProof(db, vault, owner, proof)
  const made = await newRecoveryCodes()
  await db.transaction(async (transaction) => {
    await storeRecoveryCodes(transaction, owner.user, made)
    await recordAudit(transaction, owner.user, 'user.renew_recovery_codes', owner.user.login)
  })
  return made.codes
}

/** Every given proof must be right. A code alone is enough only if the user entered the password within the last hour. */
async function checkProof(db: Database, vault: Vault, { user, session, address }: Owner, { password, code }: Proof) {
  if (password || !code) {
    if (!(await checkPassword(db, { login: user.login, address }, password))) throw wrong('The password is wrong.')
    await confirmSession(db, session)
  } else if (!isConfirmed(db, session)) {
    throw wrong('Give your password: it was not asked for within the last hour.')
  }
  if (code && !(await guessAtAccount(db, user, address, () => spendCode(db, vault, user, code)))) {
    throw wrong('The code is wrong, too old, or was used before.')
  }
}

const wrong = (message: string) => invalid({ resource: 'User', code: 'invalid', field: 'password', message })
