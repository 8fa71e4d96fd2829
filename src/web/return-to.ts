import type { FastifyRequest } from 'fastify'
import { withoutSecrets } from '#platform/log.ts'

/** The address a person wanted, if it is one of ours: a path, and not one that a browser reads as another host. */
export function safeReturn(asked: string | null): string {
  const ours = asked && asked.length <= longest && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(asked) ? asked : '/'
  // A header takes ASCII only, but a path may contain any character.
  return ours.replaceAll(/[^!-~]+/gu, encodeURIComponent)
}

/** An address with its headers has 16 KB; an OAuth request that waits for the sign-in takes a few of them. */
const longest = 8000

/** The page that a person looks at: the one that is asked for, or the one whose form was sent. */
export function pageOf(request: FastifyRequest): string {
  if (request.method === 'GET') return safeReturn(request.originalUrl)
  const referrer = URL.parse(request.headers.referer ?? '')
  return safeReturn(referrer?.host === request.headers.host ? `${referrer?.pathname}${referrer?.search}` : null)
}

/** The sign-in page that leads back to this page. Pages of the sign-in itself keep where they lead to; a secret in an address is not repeated. */
export function signInAddress(request: FastifyRequest): string {
  const page = pageOf(request)
  const signing = /^\/(?:login|login\/otp|signup)(?:\?(.*))?$/.exec(page)
  const to = signing ? safeReturn(new URLSearchParams(signing[1]).get('return_to')) : withoutSecrets(page) === page ? page : '/'
  return to === '/' ? '/login' : `/login?return_to=${encodeURIComponent(to)}`
}
