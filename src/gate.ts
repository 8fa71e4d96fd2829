import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { Authenticator } from '#identity/callers.ts'
import { parseFeedAddress } from '#parts/feeds/feeds.ts'
import { findKeyOwner } from '#parts/feeds/keys.ts'
import { Refusal } from '#platform/errors.ts'
import { findVisitor } from '#web/page.ts'

/**
 * Routes that need no account: signing in, OAuth, health, and files that are the same on every server. The API, git and Git LFS check
 * their callers themselves.
 */
const open = /^\/(?:login|logout|signup|assets|avatars|emojis|healthz|readyz|metrics|api|graphql)(?:\/|$)/
const git = /^\/:owner\/:repo\/(?:info\/refs|info\/lfs\/|git-(?:upload|receive)-pack)/

/** The address has a key that stands for an account, which the handler checks: the link of an archive. */
const archive = /^\/:owner\/:repo\/(?:legacy\.(?:tar\.gz|zip)|archive)\/\*$/

/** With `BELFRY_SIGN_IN_ONLY`, the web listener serves an address only to a session, a token or a feed key. */
export function guardAnonymous(listener: FastifyInstance, belfry: Belfry) {
  if (belfry.settings.BELFRY_SIGN_IN_ONLY === 'off') return
  const authenticator = new Authenticator(belfry)

  listener.addHook('onRequest', async (request, reply) => {
    // An unknown address has no route. The API answers it itself below its prefix.
    const route = request.routeOptions.url ?? pathOf(request)
    if (open.test(route) || git.test(route)) return
    // Forms need a session themselves, and show what was typed after the next sign-in.
    if (request.method === 'POST' || (await findVisitor(belfry, request))) return
    if (await hasCredentials(request, route)) return
    return refuse(request, reply)
  })

  async function hasCredentials(request: FastifyRequest, route: string) {
    const { authorization } = request.headers
    if (authorization !== undefined) {
      const caller = await authenticator.authenticate({ authorization, address: request.ip, code: null }).catch(ifRefused)
      return caller !== undefined
    }
    const token = tokenIn(request)
    if (token === null) return false
    return (
      archive.test(route) || isPrivateFeed(request) || (isFeed(request) && (await findKeyOwner(belfry.db, token)) !== undefined)
    )
  }
}

function ifRefused(error: unknown) {
  if (error instanceof Refusal && error.reason !== 'unavailable') return undefined
  throw error
}

const pathOf = ({ url }: FastifyRequest) => url.split('?', 1)[0] ?? ''

function tokenIn({ url }: FastifyRequest) {
  const mark = url.indexOf('?')
  return mark < 0 ? null : new URLSearchParams(url.slice(mark)).get('token')
}

const isFeed = (request: FastifyRequest) => pathOf(request).endsWith('.atom')

/** Its handler finds nothing without the right token, whether the account exists or not. */
function isPrivateFeed({ params }: FastifyRequest) {
  const { name = '', org } = params as { name?: string; org?: string }
  const kind = parseFeedAddress(name, org)?.address.kind
  return kind !== undefined && kind !== 'public' && kind !== 'everyone'
}

/** Browsers sign in and come back. Programs get 401. */
function refuse(request: FastifyRequest, reply: FastifyReply) {
  reply.header('Cache-Control', 'no-store')
  const { accept = '', authorization } = request.headers
  if (authorization === undefined && !isFeed(request) && !accept.includes('text/event-stream')) {
    return reply
      .code(303)
      .header('Location', `/login?return_to=${encodeURIComponent(request.url)}`)
      .send()
  }
  return reply
    .code(401)
    .header('WWW-Authenticate', 'Basic realm="Belfry", charset="UTF-8"')
    .type('text/plain; charset=utf-8')
    .send('This server is for signed-in users. Send a personal access token as the password, or add a feed key as ?token=.\n')
}
