import { type Database, sql, type Transaction } from '#platform/database.ts'
import { networkOf } from '#platform/network.ts'
import { type Limit, limitsFrom, refundAttempt, reserveAttempt, settleAttempt, tooMany } from './attempts.ts'

/** After this many wrong guesses within 15 minutes, no guess is checked, right or wrong. */
const forAccount = 10
const fromNetwork = 50
const minutes = 15

/** Checks a guess at a password or a code of an account. `check` returns undefined for a wrong guess. */
export async function guessAtAccount<T>(
  db: Database,
  user: { id: number },
  address: string,
  check: () => Promise<T | undefined>,
) {
  return guessWithin(db, [...(await accountLimits(db, [user], address)), ...networksOf(address)], check)
}

/**
 * Checks a guess at the accounts that a login or an e-mail address opens. It counts at each of them, however the name is written. A name
 * without an account has a count too, because responses must not reveal which accounts exist.
 */
export async function guessByName<T>(
  db: Database,
  { name, address, accounts }: { name: string; address: string; accounts: { id: number }[] },
  check: () => Promise<T | undefined>,
) {
  const limits = accounts.length ? await accountLimits(db, accounts, address) : [await nameLimit(db, name)]
  return guessWithin(db, [...limits, ...networksOf(address)], check)
}

/** PostgreSQL lowers the name, as it does when it looks for an account. */
async function nameLimit(db: Database, name: string): Promise<Limit> {
  const { lowered } = await db.load<{ lowered: string }>(sql`select lower(${name.slice(0, 200)}::text) as lowered`)
  return { subject: `name ${lowered}`, most: forAccount }
}

/**
 * Guesses at an account count together, whatever their address, except for an address with a session of the account: it has a count
 * of its own, so that strangers cannot lock the owner out.
 */
async function accountLimits(db: Database, accounts: { id: number }[], address: string): Promise<Limit[]> {
  const known = await db.rows<{ user_id: number }>(sql`
    select s.user_id from sessions s where s.user_id = any(${accounts.map(({ id }) => id)}::bigint[])
      and s.address = ${address} and not s.awaits_code and s.expires_at > ${db.now}`)
  const network = networkOf(address)
  return accounts.map(({ id }) => {
    const own = known.some(({ user_id }) => user_id === id)
    return { subject: own ? `account ${id} at ${network}` : `account ${id}`, most: forAccount }
  })
}

const networksOf = (address: string) => limitsFrom('guesses', address, fromNetwork)

/** Checks a guess at the code that a device shows. */
export function guessAtDevice<T>(db: Database, user: { id: number }, address: string, check: () => Promise<T | undefined>) {
  return guessWithin(db, [{ subject: `device code of ${user.id}`, most: forAccount }, ...networksOf(address)], check)
}

/** Wrong guesses at an account no longer count. */
export async function forgetGuesses(db: Transaction, { id }: { id: number }) {
  await db.query(sql`delete from attempts where subject = ${`account ${id}`} or subject like ${`account ${id} at %`}`)
}

/**
 * Guesses are counted by application and network. Client ids are public, so with a limit per application anyone could lock it out;
 * secrets have 160 bits.
 */
export function guessAtClient<T>(db: Database, client_id: string, address: string, check: () => Promise<T | undefined>) {
  const limits = [
    ...limitsFrom(`client ${client_id.slice(0, 100)}`, address, forAccount),
    ...limitsFrom('client secrets', address, fromNetwork),
  ]
  return guessWithin(db, limits, check)
}

/** Reserves the guess before the check, so that a burst cannot exceed the limit. A right guess releases its reservation. */
async function guessWithin<T>(db: Database, limits: Limit[], check: () => Promise<T | undefined>): Promise<T | undefined> {
  const subjects = limits.map(({ subject }) => subject)
  try {
    const reservation = await waitForReservation(db, limits)
    try {
      const right = await check()
      if (right !== undefined) await refundAttempt(db, reservation)
      else await settleAttempt(db, reservation)
      return right
    } catch (error) {
      await settleAttempt(db, reservation)
      throw error
    }
  } finally {
    for (const subject of subjects) wakeNext(subject)
  }
}

/** Milliseconds: how long a guess waits for running checks, and how often it polls for checks on other nodes. */
const longestWait = 30_000
const recheck = 250

/** If the running checks could use up the limit, another guess waits for them, and is checked if they were right. */
async function waitForReservation(db: Database, limits: Limit[]): Promise<number> {
  const deadline = AbortSignal.timeout(longestWait)
  for (;;) {
    const { outcome, reservation, retry_at } = await reserveAttempt(db, limits, minutes, true)
    if (outcome === 'reserved') return reservation
    const subjects = limits.map(({ subject }) => subject)
    if (outcome === 'refused' || deadline.aborted || subjects.some(isCrowded)) {
      throw tooMany(db, 'forbidden', 'Maximum number of login attempts exceeded. Please try again later.', retry_at)
    }
    await waitForOthers(subjects)
  }
}

/** Waiting guesses of this process, in order of arrival. */
const waiting = new Map<string, Set<() => void>>()
const mostWaiting = 500

const isCrowded = (subject: string) => (waiting.get(subject)?.size ?? 0) >= mostWaiting

/** Waits until a check of this process ends and this guess is next. If checks run on another node, only the first waiting guess polls. */
function waitForOthers(subjects: string[]): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearInterval(timer)
      for (const subject of subjects) {
        const others = waiting.get(subject)
        others?.delete(wake)
        if (others?.size === 0) waiting.delete(subject)
      }
      resolve()
    }
    const timer = setInterval(() => {
      if (subjects.some((subject) => firstWaiting(subject) === wake)) wake()
    }, recheck)
    for (const subject of subjects) {
      const others = waiting.get(subject) ?? new Set()
      waiting.set(subject, others.add(wake))
    }
  })
}

function firstWaiting(subject: string) {
  const [first] = waiting.get(subject) ?? []
  return first
}

function wakeNext(subject: string) {
  firstWaiting(subject)?.()
}
