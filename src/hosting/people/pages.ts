import { join } from 'node:path'
import { loadUser } from '#identity/accounts.ts'
import type { Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Outcome, type PageRoute, type SignedIn, submitOwn } from '#web/page.ts'
import { safeReturn } from '#web/return-to.ts'
import { follow, unfollow } from './people.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [
  submitOwn('/users/:login/follow', changing(follow)),
  submitOwn('/users/:login/unfollow', changing(unfollow)),
]

type Change = (db: Transaction, follower: SignedIn['visitor'], followed: SignedIn['visitor']) => Promise<unknown>

function changing(change: Change) {
  return async ({ db, visitor, params, form }: SignedIn): Promise<Outcome> => {
    const { login = '' } = params
    if (/\0/.test(login)) throw missing()
    const account = await loadUser(db, login)
    await db.transaction((transaction) => change(transaction, visitor, account))
    return { to: safeReturn(form.get('return_to') ?? `/${account.login}`) }
  }
}
