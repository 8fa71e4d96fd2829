import { type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'

/** A user, an organization or the bot of an app: they share one name space. */
export interface Account {
  id: number
  type: 'User' | 'Organization' | 'Bot'
  login: string
  name: string | null
  email: string | null
  /** Everyone sees the address on the profile. */
  email_public: boolean
  company: string | null
  blog: string | null
  location: string | null
  bio: string | null
  twitter_username: string | null
  hireable: boolean | null
  site_admin: boolean
  suspended_at: Date | null
  member_access: number
  /** Of an organization: whether its private repositories may be forked, if their own setting allows it too. */
  members_can_fork_private_repositories: boolean
  created_at: Date
  updated_at: Date
}

/** The fields that lists of users and owners show. */
export type Person = Pick<Account, 'id' | 'type' | 'login' | 'site_admin'>

/** Whose access decides what is visible. A token without the `repo` scope sees nothing private. */
export interface Viewer {
  viewer_id: number | null
  sees_private: boolean
  /** A fine-grained token or a token of an app, which is limited to some repositories. */
  token_id?: number | null
  /** The level of access in the repositories of an installation, for its tokens. */
  installation_access?: number | null
}

export const accountColumns = sql`a.id, a.type, a.login, a.name, a.email, a.email_public, a.company, a.blog, a.location, a.bio, a.twitter_username, a.hireable,
  a.site_admin, a.suspended_at, a.member_access, a.members_can_fork_private_repositories, a.created_at, a.updated_at`

export const personColumns = sql`a.id, a.type, a.login, a.site_admin`

export async function loadAccount(db: Queryable, login: string): Promise<Account> {
  const [account] = await db.genericPlanRows<Account>(
    sql`select ${accountColumns} from accounts a where lower(a.login) = lower(${login})`,
  )
  if (!account) throw missing()
  return account
}

export async function loadAccountById(db: Queryable, id: number): Promise<Account> {
  const [account] = await db.genericPlanRows<Account>(sql`select ${accountColumns} from accounts a where a.id = ${id}`)
  if (!account) throw missing()
  return account
}

/** A user, not an organization. */
export async function loadUser(db: Queryable, login: string): Promise<Account> {
  const account = await loadAccount(db, login)
  if (account.type !== 'User') throw missing()
  return account
}
