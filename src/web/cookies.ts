import type { FastifyReply, FastifyRequest } from 'fastify'

export const sessionCookie = 'belfry_session'
/** The CSRF tokens of visitors without a session are derived from this cookie. */
export const visitCookie = 'belfry_visit'

/** On https, browsers accept a name with this prefix only from this very host, so that no other host of the domain can set our cookies. */
const prefix = '__Host-'

/** The value of a cookie that anyone may set, such as a preference. It may be older than the prefix. */
export const readCookie = (request: FastifyRequest, name: string) => find(request, `${prefix}${name}`) ?? find(request, name)

/** The value of a cookie that only we may set: on https, it has the prefix. */
export const readOwnCookie = (request: FastifyRequest, name: string, secure: boolean) =>
  find(request, secure ? `${prefix}${name}` : name)

export interface SessionCookie {
  token: string
  /** An earlier version wrote it, without the prefix. Tokens had 40 characters then, so a later one does not count without the prefix. */
  is_old: boolean
}

export function readSessionCookie(request: FastifyRequest, secure: boolean): SessionCookie | undefined {
  const token = readOwnCookie(request, sessionCookie, secure)
  if (token !== undefined || !secure) return token === undefined ? undefined : { token, is_old: false }
  const old = find(request, sessionCookie)
  return old?.length === 40 ? { token: old, is_old: true } : undefined
}

function find({ headers }: FastifyRequest, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [key, ...value] = pair.trim().split('=')
    if (key === name) return value.join('=')
  }
  return undefined
}

/** A `Cookie` header without one of its cookies. */
export const withoutCookie = (header: string, name: string) =>
  header
    .split(';')
    .filter((pair) => !pair.trimStart().startsWith(`${name}=`) && !pair.trimStart().startsWith(`${prefix}${name}=`))
    .join(';')

interface CookieOptions {
  /** Seconds. Without it, the cookie ends with the browser session; zero removes the cookie. */
  max_age?: number
  secure: boolean
}

/** Scripts cannot read our cookies, and forms of other sites do not send them. */
export function writeCookie(reply: FastifyReply, name: string, value: string, { secure, ...options }: CookieOptions) {
  write(reply, secure ? `${prefix}${name}` : name, value, { secure, ...options })
}

/** The server ends a session that is unused for a month; the cookie only has to last longer. */
const year = 365 * 24 * 3600

/** `pending`: the session waits for a one-time code, and ends with the browser. */
export function writeSessionCookie(reply: FastifyReply, token: string, secure: boolean, pending = false) {
  writeCookie(reply, sessionCookie, token, { secure, ...(!pending && { max_age: year }) })
}

/** Replaces the cookie of an earlier version by one with the prefix. */
export function replaceOldSessionCookie(reply: FastifyReply, token: string) {
  writeSessionCookie(reply, token, true)
  write(reply, sessionCookie, '', { max_age: 0, secure: true })
}

function write(reply: FastifyReply, name: string, value: string, { max_age, secure }: CookieOptions) {
  const parts = [
    `${name}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    secure && 'Secure',
    max_age !== undefined && `Max-Age=${max_age}`,
  ]
  const earlier = [reply.getHeader('Set-Cookie') ?? []].flat().map(String)
  reply.header('Set-Cookie', [...earlier.filter((cookie) => !cookie.startsWith(`${name}=`)), parts.filter(Boolean).join('; ')])
}
