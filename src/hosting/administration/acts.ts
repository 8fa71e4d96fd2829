import { type Administrator, recordAudit } from '#activity/audit.ts'
import { createOrganization, createUser, renameAccount, setSiteAdmin, suspend, unsuspend } from '#hosting/people/people.ts'
import type { Account } from '#identity/accounts.ts'
import { forgetGuesses } from '#identity/login-throttle.ts'
import { newPassword, preparePassword, setPassword } from '#identity/passwords.ts'
import { disableTwoFactor } from '#identity/two-factor.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid } from '#platform/errors.ts'
import { hashPassword } from '#platform/secrets.ts'
import { deleteUser } from './delete-user.ts'

/** What a site admin can do to a user. Each is in the audit log. */
export const userActs = ['promote', 'demote', 'suspend', 'unsuspend', 'rename', 'delete'] as const
export type UserAct = (typeof userActs)[number]

const verbs = { demote: 'demote', suspend: 'suspend', delete: 'delete' } as const

/** Returns the login afterwards; null when the user is deleted. */
export async function administer(
  db: Database,
  admin: Account,
  user: Account,
  act: UserAct,
  { new_login = '', confirm }: { new_login?: string; confirm?: string } = {},
): Promise<string | null> {
  if (user.id === admin.id && act in verbs) throw forbidden(`Site admins cannot ${verbs[act as keyof typeof verbs]} themselves.`)
  if (act === 'delete') {
    if (confirm !== undefined && confirm.toLowerCase() !== user.login.toLowerCase()) {
      throw invalid({ resource: 'User', code: 'custom', message: `To confirm, type ${user.login}` })
    }
    await deleteUser(db, admin, user)
    return null
  }
  return db.transaction((transaction) => changeUser(transaction, admin, user, act, new_login))
}

export async function changeUser(
  db: Transaction,
  admin: Administrator,
  user: Account,
  act: Exclude<UserAct, 'delete'>,
  new_login = '',
) {
  let { login } = user
  if (act === 'demote' || act === 'suspend') await checkNotLast(db, user)
  if (act === 'rename') login = (await renameAccount(db, user, new_login)).login
  else if (act === 'suspend') await suspend(db, user)
  else if (act === 'unsuspend') await unsuspend(db, user)
  else await setSiteAdmin(db, user, act === 'promote')
  await recordAudit(db, admin, `user.${act}`, act === 'rename' ? `${user.login} → ${login}` : login)
  return login
}

/** A server without a site admin can be administered on its own machine only. */
async function checkNotLast(db: Transaction, user: Account) {
  if (!user.site_admin) return
  const other = await db.first(sql`
    select from accounts where site_admin and suspended_at is null and id <> ${user.id} limit 1`)
  if (!other) throw forbidden(`${user.login} is the only site admin. Promote another user first.`)
}

export interface WantedUser {
  login: string
  email?: string | undefined
  name?: string | undefined
  password?: string | undefined
}

export async function createUserByAdmin(
  db: Database,
  admin: Administrator,
  { login, email, name, password }: WantedUser,
): Promise<Account> {
  if (password !== undefined && (password.length < 8 || password.length > 256)) {
    throw invalid({ resource: 'User', code: 'custom', field: 'password', message: 'a password has 8 to 256 characters' })
  }
  const password_hash = password === undefined ? null : await hashPassword(password)
  return db.transaction((transaction) => insertUserByAdmin(transaction, admin, { login, email, name, password_hash }))
}

/** The same with a password that is already hashed. An e-mail address that an administrator gives counts as verified. */
export async function insertUserByAdmin(
  db: Transaction,
  admin: Administrator,
  { login, email, name, password_hash }: Omit<WantedUser, 'password'> & { password_hash: string | null },
): Promise<Account> {
  const user = await createUser(db, { login, email: email ?? null, email_verified: true, name: name ?? null, password_hash })
  await recordAudit(db, admin, 'user.create', user.login)
  return user
}

/** Sets another password, ends all sessions, and forgets wrong guesses, so that it works at once. `two_factor: false` also removes the second factor, for a user who lost it. */
export async function resetPassword(
  db: Database,
  admin: Administrator,
  user: Account,
  password: string,
  { two_factor = true } = {},
) {
  const password_hash = await preparePassword(password)
  await db.transaction(async (transaction) => {
    await setPassword(transaction, user, password_hash)
    await transaction.query(sql`delete from sessions where user_id = ${user.id}`)
    await forgetGuesses(transaction, user)
    if (!two_factor) await disableTwoFactor(transaction, user)
    await recordAudit(transaction, admin, 'user.reset_password', user.login)
    if (!two_factor) await recordAudit(transaction, admin, 'user.disable_two_factor', user.login)
  })
}

/** The same by a site admin, who must not turn a token or a session into the password of the own account. Returns the new password. */
export async function resetPasswordByAdmin(
  db: Database,
  admin: Account,
  user: Account,
  { password = newPassword(), two_factor = true }: { password?: string | undefined; two_factor?: boolean | undefined },
): Promise<string> {
  if (user.id === admin.id) throw forbidden('Site admins cannot reset their own password. Change it in the settings.')
  await resetPassword(db, admin, user, password, { two_factor })
  return password
}

/** An organization and its first owner. */
export async function createOrganizationByAdmin(
  db: Transaction,
  admin: Administrator,
  owner: Account,
  { login, profile_name }: { login: string; profile_name?: string | undefined },
): Promise<Account> {
  const org = await createOrganization(db, login, profile_name ?? null, owner)
  await recordAudit(db, admin, 'org.create', org.login)
  return org
}
