import { randomBytes } from 'node:crypto'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { digest, randomText, slowDigest } from '#platform/secrets.ts'
import type { Account } from './accounts.ts'

/**
 * Ten codes for a user who lost the phone, each valid once. All codes of a user share a salt, so that one slow hash is enough to look up the
 * code that was typed.
 */
export interface RecoveryCodes {
  codes: string[]
  salt: Buffer
  digests: Buffer[]
}

/** Call this before the transaction, because hashing is slow. */
export async function newRecoveryCodes(): Promise<RecoveryCodes> {
  const codes = Array.from({ length: 10 }, () => `${randomText(5)}-${randomText(5)}`.toLowerCase())
  const salt = randomBytes(16)
  return { codes, salt, digests: await Promise.all(codes.map((code) => slowDigest(digest(code), salt))) }
}

/** Replaces the user's earlier codes. */
export async function storeRecoveryCodes(db: Transaction, user: Account, { salt, digests }: RecoveryCodes) {
  await db.query(sql`delete from recovery_codes where user_id = ${user.id}`)
  await db.query(sql`insert into recovery_codes (user_id, digest) select ${user.id}, unnest(${digests}::bytea[])`)
  await db.query(sql`update two_factor set recovery_salt = ${salt} where user_id = ${user.id}`)
}

export const isRecoveryCode = (plain: string) => /^\w{5}-\w{5}$/.test(plain)

/** The digest under which a code of this user is stored. */
export async function digestRecoveryCode(db: Queryable, user: Account, plain: string): Promise<Buffer> {
  const stored = await db.first<{ recovery_salt: Buffer | null }>(
    sql`select recovery_salt from two_factor where user_id = ${user.id}`,
  )
  const fast = digest(plain)
  return stored?.recovery_salt ? slowDigest(fast, stored.recovery_salt) : fast
}

export async function takeRecoveryCode(db: Transaction, user: Account, stored: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(sql`delete from recovery_codes where user_id = ${user.id} and digest = ${stored}`)
  return rowCount === 1
}

/**
 * Earlier versions stored plain digests. This hashes those slowly, so the codes keep working. Safe to repeat and to run on several nodes,
 * because users whose codes have a salt are skipped.
 */
export async function slowRecoveryCodes(db: Database) {
  for (;;) {
    const people = await db.rows<{ user_id: number; digests: Buffer[] }>(sql`
      select t.user_id, array(select c.digest from recovery_codes c where c.user_id = t.user_id) as digests
      from two_factor t where t.recovery_salt is null order by t.user_id limit 50`)
    if (!people.length) return
    const hashed = await Promise.all(
      people.map(async ({ user_id, digests }) => {
        const salt = randomBytes(16)
        return {
          user_id,
          salt,
          pairs: await Promise.all(digests.map(async (old) => ({ old, slow: await slowDigest(old, salt) }))),
        }
      }),
    )
    const pairs = hashed.flatMap(({ user_id, pairs: each }) => each.map((pair) => ({ user_id, ...pair })))
    await db.transaction(async (transaction) => {
      const { rows } = await transaction.query<{ user_id: number }>(sql`
        update two_factor t set recovery_salt = s.salt
        from unnest(${hashed.map(({ user_id }) => user_id)}::bigint[], ${hashed.map(({ salt }) => salt)}::bytea[]) as s (user_id, salt)
        where t.user_id = s.user_id and t.recovery_salt is null returning t.user_id`)
      const done = new Set(rows.map(({ user_id }) => user_id))
      const ours = pairs.filter(({ user_id }) => done.has(user_id))
      await transaction.query(sql`
        update recovery_codes c set digest = p.slow
        from unnest(${ours.map(({ user_id }) => user_id)}::bigint[], ${ours.map(({ old }) => old)}::bytea[],
          ${ours.map(({ slow }) => slow)}::bytea[]) as p (user_id, old, slow)
        where c.user_id = p.user_id and c.digest = p.old`)
    })
  }
}
