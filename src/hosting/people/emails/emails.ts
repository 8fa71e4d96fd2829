import { checkEmail } from '#hosting/people/people.ts'
import type { Account } from '#identity/accounts.ts'
import { ifDuplicate, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { type Fault, invalid, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { lowerEach } from '#platform/lower-case.ts'

export interface Email {
  email: string
  primary: boolean
  verified: boolean
  /** Null for further addresses, which nobody else sees. */
  visibility: 'public' | 'private' | null
}

/** The primary address first. */
export function listEmails(db: Queryable, user: Account, slice: Slice, { only_public = false } = {}): Promise<Listed<Email>> {
  const primary = sql`
    select a.email, true as "primary", a.email_verified as verified, case when a.email_public then 'public' else 'private' end as visibility,
      a.email_claimed_at as claimed_at
    from accounts a where a.id = ${user.id} and a.email is not null and (a.email_public or not ${only_public}::boolean)`
  const further = sql`
    select email, false, false, null, claimed_at from emails where user_id = ${user.id} and not ${only_public}::boolean`
  return listed(
    db,
    {
      columns: sql`email, "primary", verified, visibility`,
      source: sql`(${primary} union all ${further}) listed`,
      order: sql`"primary" desc, claimed_at, email`,
    },
    slice,
  )
}

/** Bounds the list of an account. */
export const mostEmails = 20

/** An account without an address gets the first one as its primary address. None of them is verified, because Belfry sends no mail. */
export async function addEmails(db: Transaction, user: Account, emails: string[]): Promise<Email[]> {
  emails.forEach(checkEmail)
  const held = await lockPrimary(db, user)
  const [first] = emails
  if (held === null && first !== undefined) {
    await db.query(sql`
      update accounts set email = ${first}, email_claimed_at = ${db.now}, updated_at = ${db.now} where id = ${user.id}`)
  }
  const primary = held ?? first ?? ''
  const further = held === null ? emails.slice(1) : emails
  if (await includes(db, further, primary)) throw taken()
  await db
    .query(sql`
      insert into emails (user_id, email, claimed_at) select ${user.id}, unnest(${further}::text[]), ${db.now}::timestamptz`)
    .catch(ifDuplicate(taken))
  const { rows } = await listEmails(db, user, { limit: mostEmails + 1, offset: 0 })
  if (rows.length > mostEmails) throw refused({ code: 'custom', message: `an account has at most ${mostEmails} addresses` })
  return rows.filter(({ email }) => emails.includes(email))
}

/**
 * Exchanges the primary address for a further one. The former primary address stays listed. Both keep the time of their claim, which decides
 * whose commits they link. The new one is not verified, and is private until the user decides otherwise.
 */
export async function makePrimary(db: Transaction, user: Account, email: string) {
  await lockPrimary(db, user)
  const next = await db.first<{ email: string; claimed_at: Date }>(sql`
    delete from emails where user_id = ${user.id} and lower(email) = lower(${email}) returning email, claimed_at`)
  if (!next) throw new Refusal('missing', 'Email address does not exist')
  await db.query(sql`
    insert into emails (user_id, email, claimed_at)
    select id, email, coalesce(email_claimed_at, created_at) from accounts where id = ${user.id} and email is not null`)
  await db.query(sql`
    update accounts set email = ${next.email}, email_claimed_at = ${next.claimed_at}, email_verified = false, email_public = false,
      updated_at = ${db.now}
    where id = ${user.id}`)
}

/** Deletes all of the addresses or none. */
export async function deleteEmails(db: Transaction, user: Account, emails: string[]) {
  const held = await lockPrimary(db, user)
  if (held !== null && (await includes(db, emails, held)))
    throw refused({ code: 'custom', message: 'the primary address cannot be deleted; change it with PATCH /user' })
  const { complete } = await db.load<{ complete: boolean }>(sql`
    with deleted as (delete from emails where user_id = ${user.id} and lower(email) = any(${lowerEach(emails)}) returning 1)
    select count(*) = cardinality(${lowerEach(emails)}) as complete from deleted`)
  if (!complete) throw new Refusal('missing', 'Email address does not exist')
}

export async function setEmailVisibility(db: Transaction, user: Account, visibility: 'public' | 'private'): Promise<Email[]> {
  if ((await lockPrimary(db, user)) === null) throw refused({ code: 'custom', message: 'the account has no address' })
  await db.query(sql`
    update accounts set email_public = ${visibility === 'public'}, updated_at = ${db.now} where id = ${user.id}`)
  return (await listEmails(db, user, { limit: 1, offset: 0 })).rows
}

/** Concurrent changes of the addresses of an account take turns. */
async function lockPrimary(db: Transaction, user: Account) {
  const { email } = await db.load<{ email: string | null }>(
    sql`select email from accounts where id = ${user.id} for no key update`,
  )
  return email
}

/** Whether an address is among others, in any case. */
async function includes(db: Transaction, emails: string[], email: string) {
  const { found } = await db.load<{ found: boolean }>(sql`select lower(${email}) = any(${lowerEach(emails)}) as found`)
  return found
}

const refused = (fault: Omit<Fault, 'resource' | 'field'>) => invalid({ resource: 'UserEmail', field: 'email', ...fault })
const taken = () => refused({ code: 'already_exists', message: 'email is already listed' })
