import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

/** Wrong tries within a quarter of an hour, after which no more are taken, right or wrong. */
const forAccount = 10
const fromAddress = 50
const span = sql`interval '15 minutes'`

/** What tries are counted by. The account need not exist: who does is nobody's business. */
export interface Guess {
  login: string
  address: string
}

const subjects = ({ login, address }: Guess) => [`account ${login.toLowerCase().slice(0, 100)}`, `address ${address}`]

export async function checkGuessing(db: Queryable, guess: Guess) {
  const [account, address] = subjects(guess)
  const counts = await db.first<{ account: number; address: number }>(sql`
    select count(*) filter (where subject = ${account}) as account, count(*) filter (where subject = ${address}) as address
    from failed_sign_ins where subject in (${account}, ${address}) and failed_at > ${db.now}::timestamptz - ${span}`)
  if (counts && (counts.account >= forAccount || counts.address >= fromAddress)) {
    throw new Refusal('forbidden', 'Maximum number of login attempts exceeded. Please try again later.')
  }
}

/** Counts a wrong try, and forgets those that count no more. */
export async function recordFailure(db: Queryable, guess: Guess) {
  await db.query(
    sql`insert into failed_sign_ins (subject, failed_at) select unnest(${subjects(guess)}::text[]), ${db.now}::timestamptz`,
  )
  await db.query(sql`delete from failed_sign_ins where failed_at < ${db.now}::timestamptz - ${span}`)
}
