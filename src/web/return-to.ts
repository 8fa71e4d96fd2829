import type { FastifyRequest } from 'fastify'
import { withoutSecrets } from '#platform/log.ts'

/** The requested address if it is a path on this server, and not one that a browser takes for another host; `/` otherwise. */
export function safeReturn(asked: string | null): string {
  const ours = asked && asked.length <= longest && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(asked) ? asked : '/'
  // A header takes ASCII only, but a path may contain any character.
  return ours.replaceAll(/[^!-~]+/gu, encodeURIComponent)
}

/** Node accepts 16 KB of address and headers. An OAuth request that waits for the sign-in needs a few of them. */
const longest = 8000

/** The page that the visitor sees: the requested one, or the one that has the form. */
export function pageOf(request: FastifyRequest): string {
  if (request.method === 'GET') return safeReturn(request.originalUrl)
  const referrer = URL.parse(request.headers.referer ?? '')
  return safeReturn(referrer?.host === request.headers.host ? `${referrer?.pathname}${referrer?.search}` : null)
}

/** The page that has the form, to return to it; `otherwise` if the browser does not name a page of ours. Its message was shown already. */
export function pageOfForm({ headers }: FastifyRequest, otherwise: string): string {
  const page = URL.parse(headers.referer ?? '')
  if (!page || page.host !== headers.host) return otherwise
  page.searchParams.delete('flash')
  return safeReturn(`${page.pathname}${page.search}`)
}

/** The sign-in page that returns to this page. Sign-in pages keep their own return address; an address with a secret is not repeated. */
export function signInAddress(request: FastifyRequest): string {
  const page = pageOf(request)
  const signing = /^\/(?:login|login\/otp|signup)(?:\?(.*))?$/.exec(page)
  const to = signing ? safeReturn(new URLSearchParams(signing[1]).get('return_to')) : withoutSecrets(page) === page ? page : '/'
  return to === '/' ? '/login' : `/login?return_to=${encodeURIComponent(to)}`
}
