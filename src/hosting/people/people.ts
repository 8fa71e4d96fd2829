import { type Account, accountColumns, type Person, personColumns } from '#identity/accounts.ts'
import { codeOf, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { lowerEach } from '#platform/lower-case.ts'
import { hasStrayCharacters } from '#platform/web-address.ts'

export interface NewUser {
  login: string
  email: string | null
  /** The operator confirms that the address belongs to this account alone. */
  email_verified?: boolean
  password_hash?: string | null
  name?: string | null
  site_admin?: boolean
}

export async function createUser(db: Transaction, user: NewUser): Promise<Account> {
  const login = normaliseLogin(user.login)
  checkLogin(login, 'User')
  if (user.email !== null) checkEmail(user.email)
  const account = await writeAccount(
    db,
    sql`
    insert into accounts as a (type, login, name, email, email_verified, email_claimed_at, password_hash, site_admin, created_at, updated_at)
    values ('User', ${login}, ${user.name ?? null}, ${user.email}, ${user.email !== null && user.email_verified === true}, ${db.now},
      ${user.password_hash ?? null}, ${user.site_admin ?? false}, ${db.now}, ${db.now})
    returning ${accountColumns}`,
    'User',
  )
  return claimLogin(db, account)
}

/** An organization and its first owner. */
export async function createOrganization(db: Transaction, login: string, name: string | null, owner: Account): Promise<Account> {
  checkLogin(login, 'Organization')
  const org = await writeAccount(
    db,
    sql`
    insert into accounts as a (type, login, name, created_at, updated_at)
    values ('Organization', ${login}, ${name}, ${db.now}, ${db.now}) returning ${accountColumns}`,
    'Organization',
  )
  await claimLogin(db, org)
  await db.query(sql`
    insert into memberships (org_id, user_id, role, created_at) values (${org.id}, ${owner.id}, 'admin', ${db.now})`)
  return org
}

async function writeAccount(db: Transaction, statement: Sql, resource: string): Promise<Account> {
  try {
    return await db.load<Account>(statement)
  } catch (error) {
    if (codeOf(error) !== '23505') throw error
    throw taken(resource, String((error as { constraint?: string }).constraint).endsWith('email') ? 'email' : 'login')
  }
}

const taken = (resource: string, field: string) =>
  invalid({ resource, code: 'already_exists', field, message: `${field} is already taken` })

/**
 * Refuses the former login of another account, because its links lead to that account's repositories. Called after the login is
 * written, because a concurrent rename may have freed it.
 */
async function claimLogin(db: Transaction, account: Account): Promise<Account> {
  const { rowCount } = await db.query(sql`
    select from former_logins where login = lower(${account.login}) and account_id <> ${account.id}`)
  if (rowCount) throw taken(account.type, 'login')
  return account
}

/** The former login keeps leading to the account's repositories, see loadRepository. */
export async function renameAccount(db: Transaction, account: Account, wanted: string): Promise<Account> {
  const login = account.type === 'User' ? normaliseLogin(wanted) : wanted
  checkLogin(login, account.type)
  await db.query(sql`
    insert into former_logins (login, account_id) values (lower(${account.login}), ${account.id})
    on conflict (login) do update set account_id = excluded.account_id`)
  const renamed = await writeAccount(
    db,
    sql`update accounts a set login = ${login}, updated_at = ${db.now} where a.id = ${account.id} returning ${accountColumns}`,
    account.type,
  )
  await claimLogin(db, renamed)
  await db.query(sql`delete from former_logins where login = lower(${login})`)
  return renamed
}

export type Profile = Partial<
  Pick<Account, 'name' | 'email' | 'company' | 'blog' | 'location' | 'bio' | 'twitter_username' | 'hireable'>
>

/**
 * Changes the given fields. The others keep their current values, so concurrent changes are not lost. Any e-mail address is accepted, unverified:
 * an error for a taken address would reveal who has an account.
 */
export async function updateProfile(db: Transaction, account: Account, changes: Profile): Promise<Account> {
  if (changes.email) checkEmail(changes.email)
  if (changes.blog && hasStrayCharacters(changes.blog)) {
    const message = 'blog must not have control characters, or spaces at its ends'
    throw invalid({ resource: 'User', code: 'invalid', field: 'blog', message })
  }
  const held = await db.first<Account>(sql`select ${accountColumns} from accounts a where a.id = ${account.id} for no key update`)
  const next = { ...account, ...held, ...changes }
  // A further address that becomes the primary one is listed once.
  if (changes.email)
    await db.query(sql`delete from emails where user_id = ${account.id} and lower(email) = lower(${changes.email})`)
  return writeAccount(
    db,
    sql`
    update accounts a set name = ${next.name}, email = ${next.email || null}, company = ${next.company}, blog = ${next.blog},
      location = ${next.location}, bio = ${next.bio}, twitter_username = ${next.twitter_username}, hireable = ${next.hireable},
      email_verified = a.email_verified and lower(a.email) is not distinct from lower(${next.email || null}),
      email_claimed_at = case when lower(a.email) is distinct from lower(${next.email || null}) then ${db.now} else a.email_claimed_at end,
      updated_at = ${db.now}
    where a.id = ${account.id} returning ${accountColumns}`,
    account.type,
  )
}

export async function setSiteAdmin(db: Transaction, user: Account, site_admin: boolean) {
  await db.query(sql`update accounts set site_admin = ${site_admin}, updated_at = ${db.now} where id = ${user.id}`)
}

/** Takes effect at once, because every kind of authentication checks `suspended_at`. Sessions are deleted. */
export async function suspend(db: Transaction, user: Account) {
  await db.query(sql`
    update accounts set suspended_at = coalesce(suspended_at, ${db.now}), updated_at = ${db.now} where id = ${user.id}`)
  await db.query(sql`delete from sessions where user_id = ${user.id}`)
}

export async function unsuspend(db: Transaction, user: Account) {
  await db.query(sql`update accounts set suspended_at = null, updated_at = ${db.now} where id = ${user.id}`)
}

/** Following again changes nothing. */
export async function follow(db: Transaction, follower: Account, followed: Account) {
  if (follower.id === followed.id) {
    throw invalid({ resource: 'Follow', code: 'custom', field: 'user', message: 'You cannot follow yourself' })
  }
  await db.query(sql`
    insert into follows (follower_id, followed_id, created_at) values (${follower.id}, ${followed.id}, ${db.now})
    on conflict do nothing`)
}

export async function unfollow(db: Transaction, follower: Account, followed: Account) {
  await db.query(sql`delete from follows where follower_id = ${follower.id} and followed_id = ${followed.id}`)
}

export async function isFollowing(db: Queryable, follower: Account, followed: Account) {
  const { rowCount } = await db.query(
    sql`select from follows where follower_id = ${follower.id} and followed_id = ${followed.id}`,
  )
  return rowCount === 1
}

/** A person with what lists of people on pages show besides. */
export type Introduced = Person & Pick<Account, 'name' | 'bio'>

const introducedColumns = sql`${personColumns}, a.name, a.bio`

/** Which of these accounts a user follows. */
export async function listFollowedAmong(db: Queryable, follower: Account, people: { id: number }[]): Promise<Set<number>> {
  const rows = await db.rows<{ id: number }>(sql`
    select followed_id as id from follows where follower_id = ${follower.id} and followed_id = any(${people.map(({ id }) => id)})`)
  return new Set(rows.map(({ id }) => id))
}

export function listFollowers(db: Queryable, user: Account, slice: Slice): Promise<Listed<Introduced>> {
  const source = sql`follows f join accounts a on a.id = f.follower_id where f.followed_id = ${user.id}`
  const counted = sql`follows where followed_id = ${user.id}`
  return listed(
    db,
    { columns: introducedColumns, source, counted, order: sql`f.created_at, f.follower_id`, indexed: true },
    slice,
  )
}

export function listFollowing(db: Queryable, user: Account, slice: Slice): Promise<Listed<Introduced>> {
  const source = sql`follows f join accounts a on a.id = f.followed_id where f.follower_id = ${user.id}`
  const counted = sql`follows where follower_id = ${user.id}`
  return listed(db, { columns: introducedColumns, source, counted, order: sql`f.created_at, f.followed_id` }, slice)
}

/** What a list of people shows of each, besides the login. */
export interface Listing {
  name: string | null
  /** By the viewer. */
  followed: boolean
}

export async function describePeople(db: Queryable, viewer_id: number | null, ids: number[]): Promise<Map<number, Listing>> {
  const rows = await db.rows<Listing & { id: number }>(sql`
    select a.id, a.name, exists (select from follows f where f.follower_id = ${viewer_id} and f.followed_id = a.id) as followed
    from accounts a where a.id = any(${ids})`)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Users and organizations in the order of their ids, after the id `since`. */
export function listAccounts(db: Queryable, since: number, limit: number): Promise<Person[]> {
  return db.rows(
    sql`select ${personColumns} from accounts a where a.id > ${since} and a.type <> 'Bot' order by a.id limit ${limit}`,
  )
}

/** The counts that a profile shows. */
export interface Standing {
  public_repos: number
  private_repos: number
  followers: number
  following: number
}

export async function countStanding(db: Queryable, account: Account): Promise<Standing> {
  const counts = await db.first<Standing>(sql`
    select count(*) filter (where not private) as public_repos, count(*) filter (where private) as private_repos,
      (select count(*) from follows where followed_id = ${account.id}) as followers,
      (select count(*) from follows where follower_id = ${account.id}) as following
    from repositories where owner_id = ${account.id}`)
  return counts ?? { public_repos: 0, private_repos: 0, followers: 0, following: 0 }
}

/** Sign-up systems send names in any form, so characters that a login may not contain become hyphens. */
function normaliseLogin(login: string) {
  return login.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '')
}

/** Words that are reserved for future addresses, or that clients read as something else. */
const reserved = new Set(
  `about account api apps avatars docs events explore features feeds ghost healthz help login logout metrics networks new none
  notifications oauth openapi organizations orgs readyz repositories repos search security session sessions settings signup
  site stars status teams timeline topics user users watching webhooks`.split(/\s+/),
)

/** Reserves the first segment of a route of Belfry, so that it cannot become a login. Called for every route of the web listener. */
export function reserveLogin(path: string) {
  const [, first = ''] = path.split('/')
  if (/^[a-z\d-]+$/i.test(first)) reserved.add(first.toLowerCase())
}

/** Accounts that are older than the reservation of their login. They keep it, because a rename would break links to them. */
export async function listReservedLogins(db: Queryable): Promise<string[]> {
  const rows = await db.rows<{ login: string }>(sql`
    select login from accounts where lower(login) = any(${lowerEach([...reserved])}) order by id limit 100`)
  return rows.map(({ login }) => login)
}

export function checkLogin(login: string, resource: string) {
  if (!/^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){0,38}$/i.test(login)) {
    const message = 'login may hold up to 39 letters, digits and single hyphens, and does not begin or end with a hyphen'
    throw invalid({ resource, code: 'invalid', field: 'login', message })
  }
  if (reserved.has(login.toLowerCase())) {
    throw invalid({ resource, code: 'custom', field: 'login', message: `login '${login}' is reserved` })
  }
}

export function checkEmail(email: string) {
  if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email)) {
    throw invalid({ resource: 'User', code: 'invalid', field: 'email', message: 'email must be an e-mail address' })
  }
}
