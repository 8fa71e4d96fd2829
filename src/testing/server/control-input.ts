import { Refusal } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import type { Authorization, DeliveryMatch, Fault, PathPattern, RequestMatch, WorldOptions } from '../protocol.ts'

type Body = Record<string, unknown>
/** What a value must be, and whether it is. */
type Check = [wanted: string, ok: (value: unknown) => boolean]

const text: Check = ['a string', (value) => typeof value === 'string']
const number: Check = ['a number that is not negative', (value) => typeof value === 'number' && value >= 0]
const status: Check = [
  'a status from 200 to 599',
  (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) < 600,
]
const count: Check = ['a whole number from 1 on', (value) => Number.isInteger(value) && Number(value) > 0]
const truth: Check = ['true', (value) => value === true]
const texts: Check = [
  'an object of strings',
  (value) => isObject(value) && Object.values(value).every((inner) => typeof inner === 'string'),
]
const object: Check = ['an object', isObject]
const seedOrPath: Check = ['a seed, or the path of one', (value) => typeof value === 'string' || isObject(value)]
const anything: Check = ['a value', () => true]
const path: Check = ['a path, or a regular expression', (value) => typeof value === 'string' || isPattern(value)]

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPattern(value: unknown): value is PathPattern {
  if (!isObject(value) || typeof value.source !== 'string' || typeof value.flags !== 'string') return false
  try {
    new RegExp(value.source, value.flags)
    return true
  } catch {
    return false
  }
}

/** A typo in a test must not pass in silence. */
function check<T>(name: string, given: unknown, known: Record<string, Check>): T {
  if (!isObject(given)) throw new Refusal('invalid', `${name} must be an object`)
  for (const [key, value] of Object.entries(given)) {
    const [wanted, ok] = known[key] ?? []
    if (!wanted || !ok)
      throw new Refusal('invalid', `${name} has the unknown key "${key}". Known are: ${Object.keys(known).join(', ')}`)
    if (value !== undefined && !ok(value)) throw new Refusal('invalid', `${name}.${key} must be ${wanted}`)
  }
  return given as T
}

const faultMatchKeys = { method: text, path, user: text }
const requestKeys = { ...faultMatchKeys, status }
const deliveryKeys = { event: text, action: text, repository: text, url: text }

/** `logins` are those whose tokens the world knows. */
export function readRequestMatch(given: unknown, logins: string[], keys: Record<string, Check> = requestKeys): RequestMatch {
  const match = check<RequestMatch>('match', given, keys)
  const { path, user } = match
  if (typeof path === 'string') checkPath(path)
  if (user !== undefined && !logins.includes(user))
    throw new Refusal('invalid', `match.user is "${user}", who is no user of the seed. Users are: ${logins.join(', ')}`)
  return match
}

/** Refuses what no path of a request looks like. */
function checkPath(path: string) {
  const [bare = ''] = path.replace(/^\w+:\/\/[^/]*/, '').split('?')
  const { prefix } = selfHosted
  const below = bare.startsWith(`${prefix}/`) ? bare.slice(prefix.length) : bare
  const right = /^(\/|\*\*)/.test(below) ? below : `/${below}`
  if (right !== path)
    throw new Refusal(
      'invalid',
      `match.path is "${path}", but paths begin below the base of the API and have no query. Write "${right}"`,
    )
}

export const readDeliveryMatch = (given: unknown) => check<DeliveryMatch>('match', given, deliveryKeys)

export function readWaiting(given: unknown) {
  return check<{ match?: DeliveryMatch; timeout?: number }>('the body', given, { match: object, timeout: number })
}

export const readPatience = (given: unknown) => check<{ timeout?: number }>('the body', given, { timeout: number })

export function readAuthorization(given: unknown, logins: string[]): Authorization {
  const asked = check<Partial<Authorization>>('the body', given, { url: text, user: text, deny: truth })
  const { url, user } = asked
  if (url === undefined || user === undefined) throw new Refusal('invalid', 'Send url and user')
  if (!logins.includes(user))
    throw new Refusal('invalid', `user is "${user}", who is no user of the seed. Users are: ${logins.join(', ')}`)
  return { ...asked, url, user }
}

const answers = ['status', 'rate_limit', 'secondary_limit', 'expired_token'] as const

export function readFault(given: unknown, logins: string[]): Fault {
  const fault = check<Fault>('the fault', given, {
    match: object,
    status,
    headers: texts,
    body: anything,
    delay: number,
    drop: ['true or "response"', (value) => value === true || value === 'response'],
    times: count,
    rate_limit: ['"exhausted"', (value) => value === 'exhausted'],
    secondary_limit: truth,
    retry_after: number,
    expired_token: truth,
  })
  if (fault.match) readRequestMatch(fault.match, logins, faultMatchKeys)
  const has = (name: keyof Fault) => fault[name] !== undefined
  const answered = answers.filter(has)
  if (!answered.length && !has('delay') && !has('drop'))
    throw new Refusal('invalid', 'the fault needs one of: status, delay, drop, rate_limit, secondary_limit, expired_token')
  const limits = answered.filter((name) => name !== 'status')
  if (limits.length > 1) throw new Refusal('invalid', `the fault has ${limits.join(' and ')}. Choose one of them`)
  const parts = [...answered, ...(['headers', 'body', 'retry_after'] as const).filter(has)]
  if (has('drop') && parts.length)
    throw new Refusal('invalid', `the fault drops the answer, so it cannot have ${parts.join(' and ')}. Remove either`)
  if (!answered.length && parts.length)
    throw new Refusal('invalid', `the fault has ${parts.join(' and ')} of an answer. Add its status`)
  return fault
}

export function readClockMove(given: unknown): { set: Date } | { advance: number } {
  const { set, advance } = check<{ set?: string; advance?: number }>('the body', given, { set: text, advance: number })
  if (advance !== undefined && set === undefined) return { advance }
  const at = new Date(set ?? '')
  if (advance !== undefined || Number.isNaN(at.getTime()))
    throw new Refusal('invalid', 'Send either set, a date such as 2026-06-01T00:00:00Z, or advance, a number of milliseconds')
  return { set: at }
}

export const readNewWorld = (given: unknown) =>
  check<WorldOptions>('the world', given, { seed: seedOrPath, settings: texts, clock: text })
