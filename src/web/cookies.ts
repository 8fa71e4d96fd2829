import type { FastifyReply, FastifyRequest } from 'fastify'

export const sessionCookie = 'belfry_session'
/** The CSRF tokens of visitors without a session are derived from this cookie. */
export const visitCookie = 'belfry_visit'

/** The value of a cookie, or undefined. */
export function readCookie({ headers }: FastifyRequest, name: string): string | undefined {
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
    .filter((pair) => !pair.trimStart().startsWith(`${name}=`))
    .join(';')

interface CookieOptions {
  /** Seconds. Without it, the cookie ends with the browser session; zero removes the cookie. */
  max_age?: number
  secure: boolean
}

/** Scripts cannot read our cookies, and forms of other sites do not send them. */
export function writeCookie(reply: FastifyReply, name: string, value: string, { max_age, secure }: CookieOptions) {
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
