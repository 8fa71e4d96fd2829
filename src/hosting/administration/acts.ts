import { recordAudit } from '#activity/audit.ts'
import { createUser, renameAccount, setSiteAdmin, suspend, unsuspend } from '#hosting/people/people.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database, Transaction } from '#platform/database.ts'
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
    await recordAudit(db, admin, 'user.delete', user.login)
    return null
  }
  return db.transaction((transaction) => changeUser(transaction, admin, user, act, new_login))
}

export async function changeUser(
  db: Transaction,
  admin: Account,
  user: Account,
  act: Exclude<UserAct, 'delete'>,
  new_login = '',
) {
  let { login } = user
  if (act === 'rename') login = (await renameAccount(db, user, new_login)).login
  else if (act === 'suspend') await suspend(db, user)
  else if (act === 'unsuspend') await unsuspend(db, user)
  else await setSiteAdmin(db, user, act === 'promote')
  await recordAudit(db, admin, `user.${act}`, act === 'rename' ? `${user.login} → ${login}` : login)
  return login
}

export interface WantedUser {
  login: string
  email?: string | undefined
  name?: string | undefined
  password?: string | undefined
}

export async function createUserByAdmin(
  db: Database,
  admin: Account,
  { login, email, name, password }: WantedUser,
): Promise<Account> {
  if (password !== undefined && (password.length < 8 || password.length > 256)) {
    throw invalid({ resource: 'User', code: 'custom', field: 'password', message: 'a password has 8 to 256 characters' })
  }
  const password_hash = password === undefined ? null : await hashPassword(password)
  return db.transaction(async (transaction) => {
    const user = await createUser(transaction, {
      login,
      email: email ?? null,
      email_verified: true,
      name: name ?? null,
      password_hash,
    })
    await recordAudit(transaction, admin, 'user.create', user.login)
    return user
  })
}
