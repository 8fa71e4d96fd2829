import { type Database, sql } from '#platform/database.ts'
import { networkOf } from '#platform/network.ts'
import { type Limit, refundAttempt, reserveAttempt, settleAttempt, tooMany } from './attempts.ts'

/** After so many failed guesses within a quarter of an hour, no guess is checked, right or wrong. */
const forAccount = 10
const fromNetwork = 50
const minutes = 15

/** What guesses are counted by. The account need not exist, so that answers do not reveal which accounts exist. */
export interface Guess {
  login: string
  address: string
}

/**
 * Guesses at an account count together wherever they come from, except from an address where the account is signed in: that has a count
 * of its own, so that strangers cannot lock the owner out there.
 */
async function accountLimits(db: Database, { login, address }: Guess): Promise<Limit[]> {
  const name = login.toLowerCase().slice(0, 100)
  const network = networkOf(address)
  const known = await db.first(sql`
    select from sessions s join accounts a on a.id = s.user_id
    where lower(a.login) = ${name} and s.address = ${address} and not s.awaits_code and s.expires_at > ${db.now} limit 1`)
  return [
    { subject: known ? `account ${name} at ${network}` : `account ${name}`, most: forAccount },
    { subject: `address ${network}`, most: fromNetwork },
  ]
}

/** Checks a guess at a password or a code of an account; `check` gives undefined when it is wrong. */
export async function guessAtAccount<T>(db: Database, guess: Guess, check: () => Promise<T | undefined>) {
  return guessWithin(db, await accountLimits(db, guess), check)
}

/**
 * Client ids are public and secrets have 160 bits: a limit for each application alone would let anyone lock it out, so guesses are
 * counted by application and network.
 */
export function guessAtClient<T>(db: Database, client_id: string, address: string, check: () => Promise<T | undefined>) {
  const network = networkOf(address)
  const limits = [
    { subject: `client ${client_id.slice(0, 100)} from ${network}`, most: forAccount },
    { subject: `client secrets from ${network}`, most: fromNetwork },
  ]
  return guessWithin(db, limits, check)
}

/** Reserves the guess before the check, so that a burst cannot exceed the limit; a right guess gives its reservation back. */
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

/** Milliseconds: how long a guess waits for running checks, and how often it looks whether one ended on another node. */
const longestWait = 30_000
const recheck = 250

/** When the running checks could use up the limit, a further guess waits for them: if they were right, it is checked too. */
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

/** Guesses of this process that wait, in the order in which they came. */
const waiting = new Map<string, Set<() => void>>()
const mostWaiting = 500

const isCrowded = (subject: string) => (waiting.get(subject)?.size ?? 0) >= mostWaiting

/** Waits until a check of this process ends and it is this guess's turn. If checks run on another node, only the first waiting guess polls. */
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
